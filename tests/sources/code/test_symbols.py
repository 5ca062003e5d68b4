"""Definitions of every language with a grammar, as a reader of the source would list them."""

import pytest

from relrag_pipelines.sources.code.symbols import symbols

PYTHON = '''"""Users."""
import os


class UserService(Base, metaclass=Meta):
    """Knows users."""

    # checks the token
    @cached
    def authenticate(self, token: str) -> bool:
        def inner():
            return 1
        return bool(token)

    class Inner:
        async def deep(self): pass


if os.name == "nt":
    def top(): return 1
else:
    def top(): return 2
'''
JAVASCRIPT = """class A extends B { #p = 1; static f() {} get x() { return 1 } y = () => 1 }
const f = function() {}
A.prototype.z = function() {};
function* gen() {}
(function() { hidden(); })();
export default () => 1;
"""
TYPESCRIPT = """import x from "y";
/** doc */
export class A<T> extends ns.B<T> implements C {
  f = () => { return 1; };
  @D() m(): void {}
}
export const g = async () => 1;
namespace N.M { function q() {} }
abstract class Z {}
interface I extends J { a(): void }
enum E { A }
"""
JAVA = """package cz.firma.users;
/** d */
public class A extends B<C> {
  /** f */
  @Override public void f() {}
  void f(int x) {} // same line
  A() {}
  class I { void g() {} }
}
enum E { X; void g() {} }
record R(int x) {}
interface Q extends P { void z(); }
"""
GO = """package users

// S is
type S struct { a int }

type (
	A int
	B interface{ f() }
)

// F does
func (s *S) F(x int) error { return nil }
func (l List[T]) G() {}
func H() {}
"""
RUST = """/// doc
#[derive(Debug)]
pub struct A<T> { x: T }
impl<T> Show for A<T> { fn f(&self) {} }
mod m { fn g() {} }
trait Tr: Sup { fn f(&self); fn d(&self) {} }
impl m::Q { fn z() {} }
macro_rules! mm { () => {} }
"""
C = """#ifndef X
#define X
struct S { int x; };
typedef struct { int y; } T;
struct S *forward(struct S *s);
static int *p(int a) { return 0; }
enum { ONE, TWO };
#endif
"""
CPP = """namespace n::m {
template<class T> class A : public B { public: void f() {} int g(); };
// h
void A::h() const {}
}
extern "C" { int k(void) { return 1; } }
std::vector<int> A<int>::r() { return {}; }
A::~A() {}
bool A::operator==(A const& o) {}
int& ref(int &x) { return x; }
"""


@pytest.mark.requirement("S3-2", "S3-18")
@pytest.mark.parametrize(
    ("language", "source", "expected"),
    [
        ("python", PYTHON, [
            ("UserService", "users.service.UserService", "Base", 5, 16),
            ("UserService.authenticate", "users.service.UserService", "Base", 8, 13),
            ("UserService.Inner", "users.service.UserService.Inner", None, 15, 16),
            ("UserService.Inner.deep", "users.service.UserService.Inner", None, 16, 16),
            ("top", "users.service", None, 20, 20),
            ("top", "users.service", None, 22, 22),
        ]),
        ("javascript", JAVASCRIPT, [
            ("A", "users.service.A", "B", 1, 1),
            ("A.f", "users.service.A", "B", 1, 1),
            ("A.x", "users.service.A", "B", 1, 1),
            ("A.y", "users.service.A", "B", 1, 1),
            ("f", "users.service", None, 2, 2),
            ("A.prototype.z", "users.service", None, 3, 3),
            ("gen", "users.service", None, 4, 4),
            ("default", "users.service", None, 6, 6),
        ]),
        ("typescript", TYPESCRIPT, [
            ("A", "users.service.A", "ns.B", 2, 6),
            ("A.f", "users.service.A", "ns.B", 4, 4),
            ("A.m", "users.service.A", "ns.B", 5, 5),
            ("g", "users.service", None, 7, 7),
            ("q", "users.service.N.M", None, 8, 8),
            ("Z", "users.service.Z", None, 9, 9),
            ("I", "users.service.I", "J", 10, 10),
            ("E", "users.service.E", None, 11, 11),
        ]),
        ("java", JAVA, [
            ("A", "cz.firma.users.A", "B", 2, 9),
            ("A.f", "cz.firma.users.A", "B", 4, 5),
            ("A.f", "cz.firma.users.A", "B", 6, 6),
            ("A.A", "cz.firma.users.A", "B", 7, 7),
            ("A.I", "cz.firma.users.A.I", None, 8, 8),
            ("A.I.g", "cz.firma.users.A.I", None, 8, 8),
            ("E", "cz.firma.users.E", None, 10, 10),
            ("E.g", "cz.firma.users.E", None, 10, 10),
            ("R", "cz.firma.users.R", None, 11, 11),
            ("Q", "cz.firma.users.Q", "P", 12, 12),
            ("Q.z", "cz.firma.users.Q", "P", 12, 12),
        ]),
        ("go", GO, [
            ("S", "users.S", None, 3, 4),
            ("A", "users.A", None, 7, 7),
            ("B", "users.B", None, 8, 8),
            ("S.F", "users.S", None, 11, 12),
            ("List.G", "users.List", None, 13, 13),
            ("H", "users", None, 14, 14),
        ]),
        ("rust", RUST, [
            ("A", "users.service.A", None, 1, 3),
            ("A.f", "users.service.A", "Show", 4, 4),
            ("g", "users.service.m", None, 5, 5),
            ("Tr", "users.service.Tr", "Sup", 6, 6),
            ("Tr.d", "users.service.Tr", "Sup", 6, 6),
            ("Q.z", "users.service.Q", None, 7, 7),
            ("mm", "users.service", None, 8, 8),
        ]),
        ("c", C, [
            ("S", "S", None, 3, 3),
            ("T", "T", None, 4, 4),
            ("p", "", None, 6, 6),
            ("(anonymous)", "(anonymous)", None, 7, 7),
        ]),
        ("cpp", CPP, [
            ("A", "n.m.A", "B", 2, 2),
            ("A.f", "n.m.A", "B", 2, 2),
            ("A.h", "n.m.A", None, 3, 4),
            ("k", "", None, 6, 6),
            ("A.r", "A", None, 7, 7),
            ("A.~A", "A", None, 8, 8),
            ("A.operator==", "A", None, 9, 9),
            ("ref", "", None, 10, 10),
        ]),
    ],
)  # fmt: skip
def test_definitions(language: str, source: str, expected: list[tuple[str, str, str | None, int, int]]) -> None:
    found, _ = symbols(source.encode(), language, "users.service")
    assert [(one.symbol, one.scope, one.parent_class, one.line, one.last_line) for one in found] == expected


def test_tsx_is_typescript_with_elements() -> None:
    found, _ = symbols(b"export function Page() { return <b>hi</b>; }", "tsx", "page")
    assert [one.symbol for one in found] == ["Page"]


def test_around_a_syntax_error_the_rest_is_found() -> None:
    source = (
        b"def one():\n    return 1\n\ndef broken(:\n    x = )\n\n\nclass Two:\n    def three(self):\n        return 3\n"
    )
    found, _ = symbols(source, "python", "m")
    assert {"one", "Two", "Two.three"} <= {one.symbol for one in found}


def test_classes_within_classes_as_deep_as_they_go() -> None:
    source = "".join(f"class C{level} {{\n" for level in range(3000)) + "void f() {}\n" + "}\n" * 3000
    found, _ = symbols(source.encode(), "java", "")
    assert len(found) == 3001
    assert found[-1].classes[:2] == ("C0", "C1")
    assert found[-1].name == "f"


def test_functions_within_functions_belong_to_the_outermost() -> None:
    source = "".join(" " * level + f"def f{level}():\n" for level in range(90)) + " " * 90 + "pass\n"
    found, _ = symbols(source.encode(), "python", "m")
    assert [one.symbol for one in found] == ["f0"]
