"""A discrete simulation: customers, counters, a heap of events."""

import heapq
import random


class Event:
    __slots__ = ("action", "time")

    def __init__(self, time, action):
        self.time = time
        self.action = action

    def __lt__(self, other):
        return self.time < other.time


class Simulation:
    def __init__(self):
        self.now = 0.0
        self.events = []

    def after(self, delay, action):
        heapq.heappush(self.events, Event(self.now + delay, action))

    def run(self, until):
        while self.events and self.events[0].time <= until:
            event = heapq.heappop(self.events)
            self.now = event.time
            event.action()


class Shop:
    def __init__(self, simulation, counters, source):
        self.simulation, self.free, self.source = simulation, counters, source
        self.queue = []
        self.served = 0
        self.waited = 0.0

    def arrive(self):
        self.queue.append(self.simulation.now)
        self.simulation.after(self.source.expovariate(1.0), self.arrive)
        self.serve()

    def serve(self):
        if self.free and self.queue:
            self.free -= 1
            self.waited += self.simulation.now - self.queue.pop(0)
            self.simulation.after(self.source.expovariate(0.4), self.leave)

    def leave(self):
        self.free += 1
        self.served += 1
        self.serve()


simulation = Simulation()
shop = Shop(simulation, 3, random.Random(7))
shop.arrive()
simulation.run(150000)
print(shop.served, round(shop.waited / shop.served, 6))
