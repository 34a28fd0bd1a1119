"""Learning: layers as objects, dropout and Adam, single precision."""

import numpy as np

SIZES = (8, 64, 512)  # rows of a batch


class Dense:
    def __init__(self, inputs, outputs, rng):
        scale = np.sqrt(2.0 / inputs)
        self.w = (scale * rng.standard_normal((inputs, outputs))).astype(np.float32)
        self.b = np.zeros(outputs, dtype=np.float32)

    def forward(self, x):
        self.x = x
        return x @ self.w + self.b

    def backward(self, grad):
        self.dw = self.x.T @ grad / len(grad)
        self.db = grad.mean(axis=0)
        return grad @ self.w.T

    def parameters(self):
        return [("w", self.w, self.dw), ("b", self.b, self.db)]


class Relu:
    def forward(self, x):
        self.mask = x > 0
        return x * self.mask

    def backward(self, grad):
        return grad * self.mask

    def parameters(self):
        return []


class Adam:
    def __init__(self, rate=1e-3, beta1=0.9, beta2=0.999, epsilon=1e-8):
        self.rate = rate
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.t = 0
        self.m = {}
        self.v = {}

    def step(self, layers):
        self.t += 1
        for number, layer in enumerate(layers):
            for name, value, grad in layer.parameters():
                key = (number, name)
                if key not in self.m:
                    self.m[key] = np.zeros_like(value)
                    self.v[key] = np.zeros_like(value)
                self.m[key] = self.beta1 * self.m[key] + (1 - self.beta1) * grad
                self.v[key] = self.beta2 * self.v[key] + (1 - self.beta2) * grad**2
                m_hat = self.m[key] / (1 - self.beta1**self.t)
                v_hat = self.v[key] / (1 - self.beta2**self.t)
                value -= self.rate * m_hat / (np.sqrt(v_hat) + self.epsilon)


def softmax(z):
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def run(size, rounds):
    rng = np.random.default_rng(45)
    x = rng.standard_normal((size, 20)).astype(np.float32)
    labels = rng.integers(0, 4, size)
    target = np.eye(4, dtype=np.float32)[labels]
    layers = [Dense(20, 32, rng), Relu(), Dense(32, 32, rng), Relu(), Dense(32, 4, rng)]
    optimiser = Adam()
    for _ in range(rounds):
        out = x
        for layer in layers:
            out = layer.forward(out)
        p = softmax(out)
        loss = -np.log(p[np.arange(size), labels] + 1e-9).mean()
        grad = p - target
        for layer in reversed(layers):
            grad = layer.backward(grad)
        optimiser.step(layers)
    return loss, layers[0].w, layers[4].b
