"""A queue of events with handlers."""

import heapq


class Clock:
    def __init__(self):
        self.queue, self.now, self.serial = [], 0, 0

    def after(self, delay, action):
        self.serial += 1
        heapq.heappush(self.queue, (self.now + delay, self.serial, action))

    def run(self, until):
        while self.queue and self.queue[0][0] < until:
            self.now, _, action = heapq.heappop(self.queue)
            action()


class Server:
    def __init__(self, clock, name):
        self.clock, self.name, self.served = clock, name, 0

    def serve(self):
        self.served += 1
        self.clock.after(3 + self.served % 5, self.serve)


def run():
    clock = Clock()
    servers = [Server(clock, f"server {k}") for k in range(8)]
    for delay, server in enumerate(servers):
        clock.after(delay, server.serve)
    clock.run(1500)
    return [server.served for server in servers]
