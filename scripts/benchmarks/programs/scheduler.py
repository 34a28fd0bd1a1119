"""An operating system's kernel in small: tasks of several classes with queues of packets, run by priority.

The behaviour of its methods depends on the class of the task; nearly everything is attributes, calls and branches.
"""

from __future__ import annotations

SIZE = 400
KIND = "objects"

IDLE, WORKER, HANDLER_A, HANDLER_B, DEVICE_A, DEVICE_B = range(6)
WORK, DEVICE = range(2)


class Packet:
    def __init__(self, link, identity, kind):
        self.link = link
        self.identity = identity
        self.kind = kind
        self.datum = 0
        self.data = [0] * 4

    def appended_to(self, queue):
        self.link = None
        if queue is None:
            return self
        last = queue
        while last.link is not None:
            last = last.link
        last.link = self
        return queue


class Task:
    def __init__(self, scheduler, identity, priority, queue):
        self.scheduler = scheduler
        self.identity = identity
        self.priority = priority
        self.queue = queue
        self.is_waiting = queue is None
        self.is_held = False
        scheduler.add(self)

    def is_ready(self):
        return not self.is_held and (not self.is_waiting or self.queue is not None)

    def take(self):
        packet = self.queue
        if packet is not None:
            self.queue = packet.link
        return packet

    def give(self, packet):
        self.queue = packet.appended_to(self.queue)

    def step(self, packet):
        raise NotImplementedError


class Idle(Task):
    def __init__(self, scheduler, count):
        self.left = count
        self.control = 1
        super().__init__(scheduler, IDLE, 0, None)
        self.is_waiting = False

    def step(self, packet):
        self.left -= 1
        if self.left == 0:
            self.is_held = True
        elif self.control & 1 == 0:
            self.control >>= 1
            self.scheduler.release(DEVICE_A)
        else:
            self.control = (self.control >> 1) ^ 0xD008
            self.scheduler.release(DEVICE_B)


class Worker(Task):
    def __init__(self, scheduler, queue):
        self.next_handler = HANDLER_A
        self.letter = 0
        super().__init__(scheduler, WORKER, 1000, queue)

    def step(self, packet):
        if packet is None:
            self.is_waiting = True
            return
        self.next_handler = HANDLER_B if self.next_handler == HANDLER_A else HANDLER_A
        packet.identity = self.next_handler
        packet.datum = 0
        for place in range(4):
            self.letter += 1
            if self.letter > 26:
                self.letter = 1
            packet.data[place] = self.letter
        self.scheduler.send(packet)


class Handler(Task):
    def __init__(self, scheduler, identity, priority, queue, device):
        self.device = device
        self.works = None
        self.devices = None
        super().__init__(scheduler, identity, priority, queue)

    def step(self, packet):
        if packet is not None:
            if packet.kind == WORK:
                self.works = packet.appended_to(self.works)
            else:
                self.devices = packet.appended_to(self.devices)
        work = self.works
        if work is None:
            self.is_waiting = True
            return
        if work.datum >= 4:
            self.works = work.link
            work.identity = WORKER
            self.scheduler.send(work)
        elif self.devices is None:
            self.is_waiting = True
        else:
            device = self.devices
            self.devices = device.link
            device.datum = work.data[work.datum]
            device.identity = self.device
            work.datum += 1
            self.scheduler.send(device)


class Device(Task):
    def __init__(self, scheduler, identity, priority, handler):
        self.handler = handler
        self.pending = None
        super().__init__(scheduler, identity, priority, None)

    def step(self, packet):
        if packet is not None:
            self.pending = packet
            self.is_held = True
        elif self.pending is None:
            self.is_waiting = True
        else:
            done = self.pending
            self.pending = None
            done.identity = self.handler
            self.scheduler.send(done)


class Scheduler:
    def __init__(self):
        self.tasks = []
        self.by_identity = {}
        self.sent = 0
        self.holds = 0

    def add(self, task):
        self.tasks.append(task)
        self.tasks.sort(key=lambda each: -each.priority)
        self.by_identity[task.identity] = task

    def send(self, packet):
        self.sent += 1
        self.by_identity[packet.identity].give(packet)

    def release(self, identity):
        task = self.by_identity[identity]
        if task.is_held:
            self.holds += 1
            task.is_held = False

    def next_task(self):
        for task in self.tasks:
            if task.is_ready():
                return task
        return None

    def schedule(self):
        steps = 0
        task = self.next_task()
        while task is not None:
            packet = task.take()
            if packet is not None or task.identity == IDLE:
                task.is_waiting = False
            task.step(packet)
            steps += 1
            task = self.next_task()
        return steps


def packets(count, identity, kind):
    queue = None
    for _ in range(count):
        queue = Packet(queue, identity, kind)
    return queue


def run(size):
    scheduler = Scheduler()
    Idle(scheduler, size)
    Worker(scheduler, packets(2, WORKER, WORK))
    Handler(scheduler, HANDLER_A, 2000, packets(3, HANDLER_A, DEVICE), DEVICE_A)
    Handler(scheduler, HANDLER_B, 3000, packets(3, HANDLER_B, DEVICE), DEVICE_B)
    Device(scheduler, DEVICE_A, 4000, HANDLER_A)
    Device(scheduler, DEVICE_B, 5000, HANDLER_B)
    steps = scheduler.schedule()
    return steps, scheduler.sent, scheduler.holds
