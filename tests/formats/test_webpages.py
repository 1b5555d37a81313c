"""Web pages: WARC and HTML in, main text out, scores from side files."""

from __future__ import annotations

import builtins
import gzip
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from sicetnon.cli import main
from sicetnon.errors import DataError, MissingExtraError
from sicetnon.formats.corpora import open_corpus
from sicetnon.formats.files import CHUNK_BYTES, Reading
from sicetnon.formats.page_scores import SideFiles
from sicetnon.formats.webpages import read_page, read_web_pages
from sicetnon.index.reader import IndexReader
from sicetnon.index.writing import BuildOptions, build_index
from sicetnon.records import WebPage
from sicetnon.text.analysis import named_analysis

pytest.importorskip("brotli")
pytest.importorskip("resiliparse")

PAGE = (
    "<html><head><title>Laptop\n or  desktop</title></head><body><nav>Home About Login</nav>"
    "<div id='content'><p>" + "A laptop is better than a desktop when you travel. " * 8 + "</p>"
    "</div><div class='comments'><p>" + "I disagree, a desktop is cheaper. " * 8 + "</p></div>"
    "<footer>Copyright nobody</footer></body></html>"
)


def record(
    name: str, page: str | bytes = PAGE, status: str = "200 OK", kind: str = "text/html"
) -> bytes:
    body = page.encode() if isinstance(page, str) else page
    http = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n\r\n".encode() + body
    head = (
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: https://forum.example.org/t/1\r\n"
        f"WARC-TREC-ID: {name}\r\nWARC-Record-ID: <urn:uuid:{name}>\r\n"
        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(http)}\r\n\r\n"
    )
    return head.encode() + http + b"\r\n\r\n"


def archive(folder: Path, *records: bytes, name: str = "pages.warc.gz") -> Path:
    path = folder / name
    data = [gzip.compress(part) for part in records] if name.endswith(".gz") else records
    path.write_bytes(b"".join(data))
    return path


@pytest.mark.parametrize("name", ["pages.warc", "pages.warc.gz"])
def test_an_archive_gives_its_pages(tmp_path: Path, name: str) -> None:
    path = archive(tmp_path, record("clueweb12-1"), record("clueweb12-2"), name=name)
    pages = list(read_web_pages(path))
    assert [page.id for page in pages] == ["clueweb12-1", "clueweb12-2"]
    assert pages[0].title == "Laptop or desktop"
    assert pages[0].host == "forum.example.org"
    assert pages[0].url == "https://forum.example.org/t/1"
    assert pages[0].page_rank is None


def test_menus_go_and_comments_stay(tmp_path: Path) -> None:
    text = read_page("a", PAGE.encode()).text
    assert "better than a desktop" in text
    assert "I disagree" in text
    assert "Login" not in text
    assert "Copyright" not in text


def test_a_short_page_keeps_all_that_it_has() -> None:
    assert read_page("a", b"<body><nav>only words here</nav></body>").text == "only words here"
    assert read_page("a", b"plain").text == "plain"


def test_encodings_are_declared_or_found() -> None:
    page = "<p>Crème brûlée, été, déjà vu, garçon, là-bas</p>"
    for encoding in ("utf-8", "latin-1"):
        assert "brûlée" in read_page("a", page.encode(encoding), charset=encoding).text


ENCODED = [
    # label, Python's codec, text
    ("iso-8859-1", "cp1252", "crème “brûlée” à 5 €"),
    ("windows-1252", "cp1252", "crème “brûlée” à 5 €"),
    ("iso-8859-2", "iso8859-2", "Zażółć gęślą jaźń, żółw"),
    ("Windows-1250", "cp1250", "Zażółć gęślą jaźń, żółw"),
    ("windows-1251", "cp1251", "учителя должны получать контракт"),
    ("koi8-r", "koi8-r", "учителя должны получать контракт"),
    ("euc-kr", "cp949", "선생님들은 종신 재직권을 똠방각하"),
    ("x-sjis", "cp932", "教師は終身在職権を得るべきですか①髙"),
    ("euc-jp", "euc_jis_2004", "教師は終身在職権を得るべきですか①"),
    ("iso-2022-jp", "iso2022_jp", "教師は終身在職権を得るべきですか"),
    ("gb2312", "gb18030", "教师终身制"),
    ("big5", "big5", "教師終身制"),
    ("windows-874", "cp874", "สวัสดี…"),
    ("x-mac-cyrillic", "mac-cyrillic", "учителя должны"),
]


@pytest.mark.parametrize(("label", "codec", "text"), ENCODED)
@pytest.mark.parametrize(
    "start",
    [
        '<meta charset="{}">',
        "<META content='text/html; charset={}' HTTP-EQUIV=content-type>",
        "<!-- <meta charset=utf-16> --><meta name=x content='charset=utf-8'><meta charset={}>",
        f"<!--{'x' * 3000}--><meta charset={{}}>",
        "<meta charset=none-such><meta charset={}>",
        '<?xml version="1.0" encoding="{}"?>',
    ],
)
def test_a_declared_encoding_stands_before_a_guess(
    label: str, codec: str, text: str, start: str
) -> None:
    page = f"{start.format(label)}<body><p>{text}</p>".encode(codec)
    assert read_page("a", page).text == text


@pytest.mark.parametrize(("label", "codec", "text"), ENCODED)
def test_the_encoding_of_the_server_stands_before_that_of_the_page(
    tmp_path: Path, label: str, codec: str, text: str
) -> None:
    page = f"<meta charset=windows-1253><p>{text}</p>".encode(codec)
    assert read_page("a", page, charset=label).text == text
    path = archive(tmp_path, record("a", page, kind=f'text/html; Charset="{label}"'))
    assert [page.text for page in read_web_pages(path)] == [text]


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_stands_before_all(codec: str) -> None:
    page = "<meta charset=windows-1252><p>教師</p>".encode(codec)
    assert read_page("a", page, charset="koi8-r").text == "教師"


def test_an_encoding_that_cannot_decode_the_page_is_passed_over() -> None:
    page = "<meta charset=windows-1251><p>учителя должны</p>".encode("cp1251")
    assert read_page("a", page, charset="utf-8").text == "учителя должны"
    # a damaged letter among good ones does not make another encoding of it
    assert read_page("a", "déjà vu, été".encode() + b"\xff").text == "déjà vu, été�"
    assert read_page("a", "<meta charset=utf-16><p>déjà".encode()).text == "déjà"


LEAD = "<p>" + "Tenure is a contract that cannot be ended without a reason. " * 8 + "</p>"
LIST = "<ul><li>Graduates are lazy.</li><li><a href=x>Staff</a> fear whims.</li></ul>"
MENU = "<ul class=x><li><a href=a>Forum</a></li> | <li><a href=b>Login</a></li></ul>"


@pytest.mark.parametrize(
    "body",
    [
        f"{LEAD}{LIST}",
        f"<div>{LEAD}{LIST}</div>",
        f"<main><article>{LEAD}{LIST}</article></main>",
        f"<form>{LEAD}{LIST}<p>more</p></form>",
        f"{LEAD}<ol><li>One{LIST}</li></ol>",
        f"{LEAD}<ul><li>One{LIST}</li></ul>",
        f"{LEAD}<table><tr><td>{LIST}</table>",
    ],
)
def test_lists_of_the_text_stay_and_menus_go(body: str) -> None:
    text = read_page("a", f"<body>{MENU}{body}".encode()).text
    assert "Graduates are lazy" in text
    assert "Staff fear whims" in text
    assert "Login" not in text


def test_what_is_no_page_is_passed_over(tmp_path: Path) -> None:
    path = archive(
        tmp_path,
        record("a", status="404 Not Found"),
        record("b", kind="image/png"),
        record("c", page=" "),
        record("d", kind="application/xhtml+xml"),
    )
    assert [page.id for page in read_web_pages(path)] == ["d"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (record("a") + b"no header\r\n", "damaged after record 1"),
        (b"hello\n", "damaged after record 0"),
        (record("a") + record("b")[:-300], "record 2 is cut short"),
        (record("a b"), "white space"),
    ],
)
def test_damage_is_told(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "x.warc"
    path.write_bytes(data)
    with pytest.raises(DataError, match=message):
        list(read_web_pages(path))
    errors: list[DataError] = []
    pages = list(read_web_pages(path, Reading(errors.append)))
    assert len(errors) == 1
    assert all(page.id == "a" for page in pages)


def test_a_gzip_cut_short_is_told(tmp_path: Path) -> None:
    path = archive(tmp_path, record("a"), record("b"))
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(DataError, match="cut short"):
        list(read_web_pages(path))


def test_a_file_is_one_page(tmp_path: Path) -> None:
    path = tmp_path / "my-page.html"
    link = '<link rel="canonical" href="https://shop.example.org/x">'
    path.write_text(PAGE.replace("<head>", f"<head>{link}"))
    (page,) = read_web_pages(path)
    assert (page.id, page.host) == ("my-page", "shop.example.org")
    (page,) = read_web_pages(path.rename(tmp_path / "my page.v2.html"))
    assert page.id == "my%20page.v2"


def test_pages_of_a_folder_are_called_by_their_paths(tmp_path: Path) -> None:
    names = ["index.html", "forums/index.html", "forums/a b/index.HTM", "shops/index.xhtml"]
    for name in names:
        (tmp_path / "pages" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "pages" / name).write_text(PAGE)
    (tmp_path / "pages" / "spam-ranks.txt").write_text("81 forums/index\n17 index\n")

    def ranks(*sources: Path) -> dict[str, float | None]:
        corpus = open_corpus(sources)
        read = (page for file in corpus.files for page in corpus.read(file, Reading()))
        return {page.id: page.spam_rank for page in read if isinstance(page, WebPage)}

    everything = {"index": 17, "forums/index": 81, "forums/a%20b/index": None, "shops/index": None}
    assert ranks(tmp_path / "pages") == everything
    # ids do not hang on what else is in the folder
    (tmp_path / "pages" / "forums" / "index.html").unlink()
    del everything["forums/index"]
    assert ranks(tmp_path / "pages") == everything


@pytest.mark.parametrize("names", [("a/x.html", "b/x.html"), ("a/x.html", "a/x.htm")])
def test_pages_of_one_name_are_told(tmp_path: Path, names: tuple[str, str]) -> None:
    paths = [tmp_path / name for name in names]
    for path in paths:
        path.parent.mkdir(exist_ok=True)
        path.write_text(PAGE)
    with pytest.raises(DataError, match=f"called 'x', as that of {paths[0]} is; rename one"):
        open_corpus(paths)
    if paths[0].parent == paths[1].parent:
        with pytest.raises(DataError, match="rename one"):
            open_corpus([tmp_path / "a"])


@pytest.mark.parametrize("line", ["{0} 87", "87\t{0}"])
def test_side_files_in_either_order(tmp_path: Path, line: str) -> None:
    side = tmp_path / "spam.txt"
    side.write_text(line.format("clueweb12-1") + "\n\n")
    ranks = SideFiles(spam_rank=side).read({"clueweb12-1"})
    page = WebPage("clueweb12-1", "", "")
    assert ranks.on(page).spam_rank == 87
    assert ranks.on(WebPage("other", "", "")).spam_rank is None


def test_a_wrong_side_file_is_told(tmp_path: Path) -> None:
    side = tmp_path / "ranks.txt"
    side.write_text("a 1\na nan\n")
    with pytest.raises(DataError, match="line 2: found 'a nan'; expected an id and a number"):
        SideFiles(side).read(())


def test_a_side_file_that_is_not_there_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.txt: cannot be read"):
        open_corpus([archive(tmp_path, record("a"))], side_files=SideFiles(tmp_path / "none.txt"))


def test_scores_of_a_whole_crawl_take_memory_for_the_pages_at_hand_alone(tmp_path: Path) -> None:
    crawl = (f"clueweb12-{number:09} {number / 3e6:.6f}\n" for number in range(200_000))
    with gzip.open(tmp_path / "page-ranks.txt.gz", "wt", compresslevel=1) as file:
        file.writelines(crawl)
    archive(tmp_path, record("clueweb12-000000007"), record("clueweb12-000199999"), record("new"))
    corpus = open_corpus([tmp_path])
    tracemalloc.start()
    try:
        pages = [page for file in corpus.files for page in corpus.read(file, Reading())]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    found = {page.id: page.page_rank for page in pages if isinstance(page, WebPage)}
    assert found == {
        "clueweb12-000000007": 0.000002,
        "clueweb12-000199999": 0.066666,
        "new": None,
    }
    # all lines would take over 30 MB; the buffers of the open files take 4 MiB each
    assert peak < 4 * CHUNK_BYTES


def test_damage_is_told_once_where_side_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "spam-ranks.txt").write_text("87 a\n13 b\n")
    path = archive(tmp_path, record("a"), record("b"))
    path.write_bytes(path.read_bytes()[:-30])
    corpus = open_corpus([tmp_path])
    pages = []
    with pytest.raises(DataError, match="cut short"):
        pages.extend(corpus.read(path, Reading()))


def test_a_directory_of_pages_becomes_an_index(tmp_path: Path) -> None:
    pages = tmp_path / "pages"
    (pages / "below").mkdir(parents=True)
    archive(pages, record("clueweb12-1"), record("clueweb12-2"))
    (pages / "below" / "mine.html").write_text(PAGE)
    with gzip.open(pages / "page-ranks.txt.gz", "wt") as file:
        file.write("clueweb12-2 3.5e-9\n")
    corpus = open_corpus([pages])
    assert corpus.records == "pages"
    before = corpus.checksum()
    build_index(corpus, tmp_path / "index", BuildOptions(named_analysis("porter-stop")))
    with IndexReader.open(tmp_path / "index") as index:
        found = {record.id: record for record in index.records_at(range(index.size))}
    assert set(found) == {"clueweb12-1", "clueweb12-2", "below/mine"}
    second = found["clueweb12-2"]
    assert isinstance(second, WebPage)
    assert second.page_rank == 3.5e-9
    (pages / "page-ranks.txt.gz").unlink()
    assert open_corpus([pages]).checksum() != before


def test_pages_and_other_documents_are_indexed_apart(tmp_path: Path) -> None:
    other = tmp_path / "x.jsonl"
    other.write_text('{"id": "a", "contents": "b"}\n')
    with pytest.raises(DataError, match="index them apart"):
        open_corpus([archive(tmp_path, record("a")), other])


def test_index_and_search_from_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = archive(tmp_path, record("clueweb12-1"))
    side = tmp_path / "spam.txt"
    side.write_text("87 clueweb12-1\n")
    index = str(tmp_path / "index")
    assert main(["index", "build", str(source), "-o", index, "--spam-ranks", str(side)]) == 0
    capsys.readouterr()
    assert main(["search", "laptop or desktop", "--index", index, "--json"]) == 0
    (answer,) = json.loads(capsys.readouterr().out)["answers"]
    assert (answer["id"], answer["spam_rank"]) == ("clueweb12-1", 87)


def test_without_the_libraries_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = builtins.__import__

    def lacking(name: str, *rest: Any) -> Any:
        if name.startswith("resiliparse"):
            raise ImportError(name)
        return whole(name, *rest)

    monkeypatch.setattr(builtins, "__import__", lacking)
    with pytest.raises(MissingExtraError, match=r"sicetnon\[web\]"):
        open_corpus([archive(tmp_path, record("a"))])
