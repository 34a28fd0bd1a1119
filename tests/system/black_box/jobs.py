"""joblib: processes, threads, hashes of functions, results kept on disk by a function's source."""

import shutil
import tempfile

import joblib


def square(x):
    total = 0
    for i in range(x):
        total += 2 * i + 1
    return total


def noisy(x):
    print("computed", x)
    return square(x)


class Kind:
    def method(self, x):
        return square(x) + 1


for number in range(60):
    square(number), Kind().method(3)
for backend in ("threading", "loky", "multiprocessing"):
    jobs = joblib.Parallel(n_jobs=2, backend=backend)
    print(backend, jobs(joblib.delayed(square)(x) for x in range(30)))
    print(jobs(joblib.delayed(Kind().method)(x) for x in range(5)))
    if backend != "multiprocessing":
        print(jobs(joblib.delayed(lambda x: x + 1)(x) for x in range(5)))
folder = tempfile.mkdtemp()
memory = joblib.Memory(folder, verbose=0)
kept = memory.cache(noisy)
for _ in range(20):
    kept(7), kept(8)
print(kept.check_call_in_cache(7), kept.check_call_in_cache(9))
print(joblib.hash(square), joblib.hash({"f": square, "m": Kind.method}), joblib.hash(Kind.method))
shutil.rmtree(folder)
