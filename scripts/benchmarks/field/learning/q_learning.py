"""Learning: many walkers in a grid world learn a table of values together."""

import numpy as np

SIZES = (5, 200, 20_000)  # walkers

SIDE = 8
MOVES = np.array([(0, 1), (1, 0), (0, -1), (-1, 0)])


class Table:
    def __init__(self, rate=0.2, discount=0.95, epsilon=0.1):
        self.q = np.zeros((SIDE * SIDE, 4))
        self.rate = rate
        self.discount = discount
        self.epsilon = epsilon

    def act(self, states, luck, random_moves):
        best = self.q[states].argmax(axis=1)
        return np.where(luck < self.epsilon, random_moves, best)

    def learn(self, states, actions, rewards, following, done):
        future = np.where(done, 0.0, self.q[following].max(axis=1))
        error = rewards + self.discount * future - self.q[states, actions]
        np.add.at(self.q, (states, actions), self.rate * error / len(states) * SIDE)
        return np.abs(error).mean()


def move(states, actions):
    place = np.stack(np.divmod(states, SIDE), axis=1) + MOVES[actions]
    place = np.clip(place, 0, SIDE - 1)
    return place[:, 0] * SIDE + place[:, 1]


def run(size, rounds):
    rng = np.random.default_rng(51)
    luck = rng.random((16, size))
    moves = rng.integers(0, 4, (16, size))
    for _ in range(rounds):
        table = Table()
        states = np.arange(size) % (SIDE * SIDE - 1)
        for k in range(16):
            actions = table.act(states, luck[k], moves[k])
            following = move(states, actions)
            done = following == SIDE * SIDE - 1
            rewards = np.where(done, 1.0, -0.01)
            error = table.learn(states, actions, rewards, following, done)
            states = np.where(done, 0, following)
    return table.q, error
