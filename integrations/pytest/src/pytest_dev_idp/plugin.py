"""The fixtures, and the requests of a failed test."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable, Generator, Iterator, TypeVar

import pytest

from .idp import Idp, IdpError
from .server import Server

T = TypeVar("T")

_idp_of_test = pytest.StashKey[Idp]()


def _or_fail(work: Callable[[], T]) -> T:
    """A refusal fails the test with its words, without a traceback."""
    try:
        return work()
    except (IdpError, OSError) as error:
        refusal = str(error)
    pytest.fail(refusal, pytrace=False)


@pytest.fixture(scope="session")
def idp_server(pytestconfig: pytest.Config) -> Iterator[Server]:
    """The server of this test process. With pytest-xdist, each worker has its own."""
    server = _or_fail(lambda: Server(pytestconfig.rootpath))
    yield server
    server.close()


@pytest.fixture
def idp_fixtures() -> Any:
    """The users and clients of a test. Override it to return a dict, or the path of a fixture file below the root folder."""
    return None


@pytest.fixture
def idp(request: pytest.FixtureRequest, idp_server: Server, idp_fixtures: Any) -> Iterator[Idp]:
    """An issuer for this test alone."""
    folder: Path = request.config.rootpath
    issuer = _or_fail(lambda: idp_server.new_issuer(idp_fixtures, folder))
    request.node.stash[_idp_of_test] = issuer
    yield issuer
    del request.node.stash[_idp_of_test]
    idp_server.remove_issuer(issuer)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, None]:
    outcome = yield
    report = outcome.get_result()
    issuer = item.stash.get(_idp_of_test, None)
    if not report.failed or issuer is None:
        return
    try:
        text = issuer.ledger()
    except (IdpError, OSError) as error:
        text = f"  They cannot be read: {error}"
    report.sections.append(("Requests to idp", text))
