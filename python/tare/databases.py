"""The one way to open DuckDB: closed to all that a query, or a file of somebody else, could reach through it.

Nothing but the database itself is read or written, no extension is loaded, and no setting can be changed
afterwards. Of a database in a file nothing but tables is used: a view is a program, as a function is.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tare import interrupts, private_files
from tare.errors import CommandError
from tare.streams import visible

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# What DuckDB writes beside a database until it is in there.
LOG = ".wal"
OTHER = "other"
_NO_EXTENSIONS = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
}
# With their place, because a database may have functions of these names, too.
_TABLES = "SELECT database_name, table_name, sql FROM system.main.duckdb_tables() WHERE schema_name = 'main'"
_VIEWS = "SELECT database_name, view_name FROM system.main.duckdb_views() WHERE NOT internal"
_FUNCTIONS = "SELECT database_name, function_name FROM system.main.duckdb_functions() WHERE NOT internal"
_TYPES = "SELECT database_name, type_name FROM system.main.duckdb_types() WHERE NOT internal"


def in_memory(
    *, writes_to: Path | None = None, files: bool = False, locked: bool = True
) -> DuckDBPyConnection:
    """An empty database, which may write below the directory `writes_to`. With `files` it may all that DuckDB
    can, but fetch nothing from a network because of a query. Unless it is `locked`, settings can be changed;
    access to files cannot be allowed again.

    CommandError if DuckDB is missing. To be closed, or dropped, before the interpreter ends.
    """
    duckdb = module()
    config = {"autoinstall_known_extensions": False} if files else _NO_EXTENSIONS
    connection: DuckDBPyConnection = duckdb.connect(config=config)
    interrupts.note_database(connection)
    if not files:
        _close(connection, writes_to, locked=locked)
    return connection


def opened(
    directory: Path,
    name: str,
    schema: str,
    *,
    writable: bool = False,
    other: Path | None = None,
    writes_to: Path | None = None,
) -> DuckDBPyConnection:
    """The database of this name in a directory; its tables are as `schema` makes them, as far as it has them.

    A writable one is made if it is not there. `other` is a directory with such a database, to be read by the
    name `other`. CommandError if one of them cannot be opened, or has been made by something else than tare.
    """
    path = _checked(directory, name, writable=writable)
    with _one_line(path):
        connection: DuckDBPyConnection = module().connect(
            str(path), read_only=not writable, config=_NO_EXTENSIONS
        )
    interrupts.note_database(connection)
    try:
        if other is not None:
            attached = _checked(other, name)
            with _one_line(attached):
                connection.execute(f"ATTACH {quoted(attached)} AS {OTHER} (READ_ONLY)")
        with _one_line(path):
            _close(connection, writes_to)
            _check(connection, {path.stem: path} | ({OTHER: other / name} if other else {}), schema)
    except BaseException:
        connection.close()
        raise
    return connection


def module() -> Any:
    """DuckDB's; CommandError also where it is there and cannot be imported."""
    try:
        import duckdb
    except ImportError as error:
        from tare.packages import how_to_install

        raise CommandError(f"SQL needs duckdb: {how_to_install(['duckdb'])}") from error
    return duckdb


def _checked(directory: Path, name: str, *, writable: bool = False) -> Path:
    """The path of a database that is a regular file, as the file is that DuckDB reads with it; not opened,
    because DuckDB's lock ends when its process closes any descriptor of the file."""
    with private_files.opened_directory(directory) as place:
        for each in (name, name + LOG):
            with suppress(FileNotFoundError):
                place.check(each, writing=writable)
    return directory / name


def _close(connection: DuckDBPyConnection, writes_to: Path | None, *, locked: bool = True) -> None:
    """Leaves the connection what it has, and nothing else."""
    connection.execute("SET python_enable_replacements = false")  # a name in a query is no variable of ours
    if writes_to is not None:
        connection.execute(f"SET allowed_directories = [{quoted(writes_to)}]")
    connection.execute("SET enable_external_access = false")
    if locked:
        connection.execute("SET lock_configuration = true")


def _check(connection: DuckDBPyConnection, files: dict[str, Path], schema: str) -> None:
    for what, query in (("function", _FUNCTIONS), ("type", _TYPES)):
        for database, name in connection.execute(query).fetchall():
            if database in files:
                raise CommandError(
                    f"{files[database]} has a {what} of its own, {name}: it is not used; DROP it"
                )
    expected = _tables_of(schema)
    views = set(connection.execute(_VIEWS).fetchall())
    tables = {(database, table): sql for database, table, sql in connection.execute(_TABLES).fetchall()}
    for database, path in files.items():
        for name, sql in expected.items():
            if (database, name) in views or tables.get((database, name), sql) != sql:
                raise CommandError(f"{path}: {name} is no table that this tare makes: it is not used")


def _tables_of(schema: str) -> dict[str, str]:
    with in_memory() as connection:
        connection.execute(schema)
        return {table: sql for _, table, sql in connection.execute(_TABLES).fetchall()}


@contextmanager
def _one_line(path: Path) -> Iterator[None]:
    with errors(f"{path} cannot be opened"):
        yield


@contextmanager
def errors(what: str) -> Iterator[None]:
    """An error of DuckDB as one line of ours, which says `what` failed."""
    duckdb = module()
    try:
        with interrupts.of_duckdb():
            yield
    except duckdb.IOException as error:
        if "lock" in str(error):
            raise CommandError(
                f"{what}: another process writes it, as a study that runs; read a copy"
            ) from error
        raise CommandError(f"{what}: {str(error).splitlines()[0]}") from error
    except (duckdb.Error, OSError, RuntimeError, ValueError) as error:  # the last two of what is damaged
        raise CommandError(f"{what}: {str(error).splitlines()[0]}") from error


def quoted(path: Path) -> str:
    """The path as a text of SQL."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise CommandError(
            f"the name {visible(str(path))} is not UTF-8, which DuckDB asks for; choose another with -o"
        ) from None
    text = str(path).replace("'", "''")
    return f"'{text}'"
