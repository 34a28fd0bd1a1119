"""Quantum: a register of qubits under gates, its amplitudes in complex64 and complex128."""

import numpy as np

SIZES = (3, 10, 18)  # qubits


class Register:
    def __init__(self, qubits, dtype=np.complex128):
        self.qubits = qubits
        self.state = np.zeros(2**qubits, dtype)
        self.state[0] = 1

    def apply(self, gate, qubit):
        s = self.state.reshape(2**qubit, 2, -1)
        zero, one = s[:, 0], s[:, 1]
        new = np.empty_like(s)
        new[:, 0] = gate[0, 0] * zero + gate[0, 1] * one
        new[:, 1] = gate[1, 0] * zero + gate[1, 1] * one
        self.state = new.reshape(-1)

    def controlled_phase(self, angle, control, target):
        index = np.arange(len(self.state))
        both = (index >> (self.qubits - 1 - control)) & (index >> (self.qubits - 1 - target)) & 1
        self.state = np.where(both == 1, self.state * self.state.dtype.type(np.exp(1j * angle)), self.state)

    def probabilities(self):
        return np.abs(self.state) ** 2


def fourier(register):
    h = (np.array([[1, 1], [1, -1]]) / np.sqrt(2)).astype(register.state.dtype)
    for j in range(register.qubits):
        register.apply(h, j)
        for k in range(j + 1, min(j + 3, register.qubits)):
            register.controlled_phase(np.pi / 2 ** (k - j), k, j)


def run(size, rounds):
    x = np.array([[0, 1], [1, 0]])
    for number in range(rounds):
        register = Register(size, np.complex64 if number % 2 else np.complex128)
        register.apply(x.astype(register.state.dtype), size // 2)
        fourier(register)
        p = register.probabilities()
        entropy = -(p * np.log2(p + 1e-30)).sum()
    return register.state, entropy
