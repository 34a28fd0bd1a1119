"""What ends an object, and what its finaliser sees then: of the frame that let it go, the line and the bound names."""
# fmt: off
# ruff: noqa: B015, F821, B018, B033, B904, E402, E501, E701, E702, E711, E714, E731, E741, F401, F811, F841, I001, PTH, S, SIM

# program: ways_to_die
# note: the finaliser looks at its caller's frame wherever an instruction gives up the last reference
# trace: attrs, subs, globs, cells, ops, calls, unpack, iters, gens, excs, deep, descr, matching, swaps, classes
# told(attrs) => record, hit, hit
# told(subs) => record, hit, hit
# told(globs) => record, hit, hit
# told(cells) => record, hit, hit
# told(ops) => record, hit, hit
# told(calls) => record, hit, hit
# told(unpack) => record, hit, hit
# told(iters) => record, hit, hit
# told(gens) => record, hit, hit
# told(excs) => record, hit, hit
# told(deep) => record, hit, hit
# told(descr) => record, hit, hit
# told(matching) => record, hit, hit
# told(swaps) => record, hit, hit
# told(classes) => record, hit, hit
import sys
seen=[]
class W:
    def __init__(self, n=0, **k): self.n=n; self.__dict__.update(k)
    def __del__(self):
        f=sys._getframe(1); c=f.f_code
        seen.append((self.n, c.co_name, f.f_lineno-c.co_firstlineno, sorted(k for k in f.f_locals if k[0]!='.')))
    def __add__(s,o): return 1
    def __radd__(s,o): return 1
    def __eq__(s,o): return True
    def __lt__(s,o): return True
    def __hash__(s): return 5
    def __bool__(s): return True
    def __len__(s): return 3
    def __getitem__(s,i):
        if i>2: raise IndexError
        return i
    def __iter__(s): return iter([1,2])
    def __contains__(s,x): return True
    def __neg__(s): return 1
    def __format__(s,f): return 'w'
    def __enter__(s): return W(s.n+100)
    def __exit__(s,*a): return True
    def __call__(s,*a): return 3
    def m(self,*a): return 4
    @property
    def p(self): return 5
G=None
def told(f):
    seen.clear()
    return f(2), list(seen)
def attrs(n):
    o=W(n, a=W(n+1), b=W(n+2))
    x=1
    o.a=None
    y=2
    del o.b
    z=3
    o.a=W(4)
    o.a=W(5)
    q=o.p
    return x+y+z
def subs(n):
    l=[W(n),W(n+1),W(n+2),W(n+3)]
    d={1:W(10),2:W(11),3:W(12)}
    x=1
    l[0]=None
    y=2
    del l[1]
    z=3
    l[0:1]=[]
    d[1]=None
    w=1
    del d[2]
    l.clear()
    v=1
    d.pop(3)
    u=1
    d.update({1:W(13)})
    d.update({1:1})
    t=1
    l.append(W(14))
    l.pop()
    s=2
    return x
def globs(n):
    global G
    G=W(n)
    x=1
    G=W(n+1)
    y=2
    G=None
    G=W(n+2)
    del G
    return x+y
def cells(n):
    c=W(n)
    def g(): return c
    x=1
    c=W(n+1)
    y=2
    c=None
    z=3
    c=W(n+3)
    del c
    return x+y+z
def ops(n):
    x=W(n)+W(n+1)
    y=1+W(2)
    z=W(3)==W(4)
    a=W(5)<W(6)<W(7)
    b=-W(8)
    c=W(9)[1]
    d=3 in W(10)
    e=W(11) is None
    f=W(12) is not W(13)
    g=not W(14)
    if W(15): h=1
    while not W(16): pass
    i=W(17) and 3
    j=W(18) or 3
    k=f"{W(19)}x{W(20)}"
    return (x,y,z,a,b,c,d,e,f,g)
def calls(n):
    a=W(n)()
    b=W(n+1).m()
    c=W(n+2).m(W(n+3))
    d=len(W(4))
    e=isinstance(W(5),W)
    f=type(W(6))
    g=list(W(7))
    h=str.format("{}", W(8))
    i=max(W(9),W(10))
    j=id(W(11))
    k=(lambda q: 1)(W(12))
    l=(lambda *q, **r: 1)(W(13), r=W(14))
    m=print(*[W(15)][:0])
    o=dict(a=W(16)).clear()
    p=W(17, z=W(18)).z.n
    return 1
def unpack(n):
    a,b=[W(n),W(n+1)]
    a,b=b,a
    x=1
    (a,b)=(1,2)
    y=2
    a,b=W(5)
    c,*d=[W(6),W(7),W(8)]
    c=1
    d=2
    return a
def iters(n):
    r=0
    for i in [W(n),W(n+1)]:
        r+=1
    z=1
    for i in W(5):
        r+=1
    for i in (W(k) for k in range(3)):
        r+=1
    i=None
    s=[w.n for w in [W(8),W(9)]]
    t=[W(k) for k in range(3)]
    t=0
    u={W(1):W(2)}
    u=0
    v=sum(w.n for w in (W(10),W(11)))
    return s,v
def gen(n):
    a=W(n)
    yield 1
    a=None
    yield 2
    b=W(n+1)
    yield b.n
    c=1
def gens(n):
    r=[]
    for x in gen(n):
        r.append(x)
    g=gen(n+5)
    next(g)
    g=None
    h=gen(n+9)
    y=next(h); z=next(h)
    h.close()
    h=1
    k=list(gen(n+20))
    return r
def excs(n):
    try:
        w=W(n)
        raise ValueError(W(n+1))
    except ValueError as e:
        x=1
    y=2
    w=None
    try:
        q=W(3)
        [W(4)][W(5).n]
    except IndexError:
        z=1
    q=0
    with W(6) as v:
        u=1
    v=None
    with W(7):
        raise KeyError(W(8))
    s=1
    try:
        try: raise ValueError
        finally: f=W(9)
    except ValueError: f=1
    return y
def inlined(o):
    o.a=None
    loc=1
    def k(v):
        v=None
        here=1
        return here
    k(W(50))
    return loc
def deep(n):
    o=W(n,a=W(n+1))
    inlined(o)
    b=attrs(n)
    o=None
    c=ops(n)
    d=cells(n)
    e=subs(n)
    return b
class D:
    def __set__(s,o,v): o.__dict__['v']=None
    def __get__(s,o,t): return 1
    def __delete__(s,o): del o.__dict__['v']
class H:
    v=D()
    __slots__=('__dict__','s')
def descr(n):
    h=H()
    h.__dict__['v']=W(n)
    x=1
    h.v=3
    h.__dict__['v']=W(n+1)
    del h.v
    h.s=W(n+2)
    y=1
    h.s=W(n+3)
    h.s=None
    h.s=W(n+4)
    del h.s
    h.s=W(n+5)
    h=None
    z=2
    return x
def matching(n):
    match W(n):
        case [a,b,c]: x=1
        case W(n=k): x=2
    match [W(n+1), 2]:
        case [W(n=k), 2]: y=k
    match {'a':W(n+2)}:
        case {'a':W(n=k), **r}: z=k
    k=None
    return x
def swaps(n):
    a=b=W(n)
    a=1
    b=2
    c=[a:=W(n+1)]
    c=a=None
    import os as d
    d=W(3)
    d=None
    assert W(4)
    del n
    return 1
def classes(n):
    class C:
        q=W(n)
        r=1
        q=2
        s=W(n+1)
    t=1
    del C.s
    u=2
    C.q=W(3)
    C.q=None
    v=1
    return t
