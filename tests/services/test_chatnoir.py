"""ChatNoir: what it finds, page by page, and the texts of its pages."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from sicetnon.errors import ServiceError
from sicetnon.records import Topic, WebPage
from sicetnon.services.chatnoir import page_uuid
from support.service_double import trec_id
from support.service_setting import KEY, MILK, QUICK, TEA, Setting


class TestChatNoir:
    def test_finds_pages_in_the_documented_shape(self, double, setting) -> None:
        retriever = setting.chatnoir(double)
        ranking, other = retriever.retrieve([TEA, MILK], 10)
        assert ranking.topic is TEA
        assert ranking.ids == tuple(trec_id(n) for n in range(10))
        assert ranking.scores.tolist() == [1000.0 - n for n in range(10)]
        assert ranking.scores.dtype == np.float64
        assert other.ids == ranking.ids
        method, path, body = double.requests[0]
        assert (method, path) == ("POST", "/api/v1/_search")
        assert body == {
            "apikey": KEY,
            "query": "Which is better, tea or coffee?",
            "index": ["cw12"],
            "from": 0,
            "size": 10,
            "search_method": "default",
            "explain": False,
        }
        assert setting.progress == [("topics", 1, 2), ("topics", 2, 2)]
        assert setting.said == []

    def test_pages_hold_what_the_search_says_of_them(self, double, setting) -> None:
        retriever = setting.chatnoir(double)
        ranking = retriever.retrieve([MILK], 4)[0]
        page = retriever.hits(ranking)[3]
        assert page == WebPage(
            id=trec_id(3),
            title="Page 3 & tea",
            text="",
            url="http://www.example.org/3",
            host="www.example.org",
            page_rank=None,
            spam_rank=80,
            snippet="On Should milk go in first?: tea is <cheap>",
            uuid=page_uuid(trec_id(3)),
        )
        assert page.default_text() == f"{page.title}\n{page.snippet}"
        assert double.asked("GET") == 0

    def test_records_fetch_texts_once(self, double, setting) -> None:
        retriever = setting.chatnoir(double)
        ranking = retriever.retrieve([TEA], 8)[0]
        wanted = ranking.taken(np.array([5, 0]), np.array([2.0, 1.0]))
        pages = retriever.records(wanted)
        assert [page.id for page in pages] == [trec_id(5), trec_id(0)]
        assert pages[0].text == f"The page {page_uuid(trec_id(5))} weighs tea against coffee."
        assert pages[0].default_text().startswith("Page 5 & tea\nThe page")
        assert double.asked("GET") == 2
        what = "pages of topic 1 of 1"
        assert setting.progress[-2:] == [(what, 1, 2), (what, 2, 2)]
        assert retriever.records(wanted) == pages
        assert double.asked("GET") == 2
        uuid = page_uuid(trec_id(5))
        assert f"/cache?uuid={uuid}&index=cw12&raw&plain" in {
            path for _, path, _ in double.requests
        }

    def test_the_uuid_is_the_one_that_chatnoir_gives(self, data: Path) -> None:
        hits = json.loads((data / "touche-2020-task-2/chatnoir-recorded-hits.json").read_bytes())
        assert all(page_uuid(hit["trec_id"]) == hit["uuid"] for hit in hits)

    def test_recorded_hits_are_understood(self, data: Path) -> None:
        from sicetnon.services.chatnoir import _page, _read_results

        hits = json.loads((data / "touche-2020-task-2/chatnoir-recorded-hits.json").read_bytes())
        answer = {"meta": {"query_time": 1, "total_results": len(hits)}, "results": hits}
        found, total = _read_results(json.dumps(answer).encode())
        assert total == len(found) == 1010
        pages = [_page(name, hit) for name, hit in found]
        # one title really holds the tag, written &lt;em&gt;
        assert sum("<em>" in page.title + page.snippet for page in pages) == 1
        assert [page.url for page in pages] == [hit["target_uri"] for hit in hits]

    def test_texts_may_come_as_html(self, double, setting) -> None:
        double.markup = True
        retriever = setting.chatnoir(double)
        ranking = retriever.retrieve([TEA], 1)[0]
        assert retriever.records(ranking)[0].text.startswith("The page")

    def test_any_text_is_a_query(self, double, setting) -> None:
        titles = ['"', "a && (b", "\ud800 ☕", "50% of teas?", "\x00", "  "]
        rankings = setting.chatnoir(double).retrieve(
            [Topic(str(n), t) for n, t in enumerate(titles)], 3
        )
        assert [len(ranking) for ranking in rankings] == [3, 3, 3, 3, 3, 0]
        assert double.asked("POST") == 5

    def test_a_page_found_twice_keeps_the_snippet_of_each_question(self, double, setting) -> None:
        retriever = setting.chatnoir(double)
        tea, milk, again = retriever.retrieve([TEA, MILK, TEA], 2)
        assert again.ids == tea.ids
        first, second = retriever.hits(tea)[0], retriever.hits(milk)[0]
        assert (first.id, "coffee" in first.snippet) == (second.id, True)
        assert "milk" in second.snippet


class TestPaging:
    def test_page_by_page(self, double, setting) -> None:
        double.total = 450
        ranking = setting.chatnoir(double).retrieve([TEA], 1000)[0]
        assert ranking.ids == tuple(trec_id(n) for n in range(450))
        assert [body["from"] for _, _, body in double.requests] == [0, 100, 200, 300, 400]
        assert setting.said == []

    def test_no_more_than_wanted(self, double, setting) -> None:
        double.total = 450
        assert len(setting.chatnoir(double).retrieve([TEA], 150)[0]) == 150
        assert double.asked("POST") == 2

    def test_nothing_found_is_an_answer(self, double, setting) -> None:
        double.total = 0
        assert len(setting.chatnoir(double).retrieve([TEA], 10)[0]) == 0
        assert double.asked("POST") == 1

    def test_smaller_pages_than_asked_for_are_no_end(self, double, setting) -> None:
        double.total, double.most = 60, 25
        ranking = setting.chatnoir(double).retrieve([TEA], 100)[0]
        assert ranking.ids == tuple(trec_id(n) for n in range(60))

    def test_a_repeated_page_ends_the_search_with_a_warning(self, double, setting) -> None:
        double.total, double.ignores_offset = 500, True
        ranking = setting.chatnoir(double).retrieve([TEA], 1000)[0]
        assert ranking.ids == tuple(trec_id(n) for n in range(100))
        assert double.asked("POST") == 2
        assert len(setting.said) == 1
        assert "repeated results at 100 that it had given before" in setting.said[0]
        assert "going on with the 100 results before it" in setting.said[0]

    def test_some_repeated_results_are_taken_once(self, double, setting) -> None:
        double.total, double.overlap = 250, 7
        ranking = setting.chatnoir(double).retrieve([TEA], 1000)[0]
        assert len(set(ranking.ids)) == len(ranking) >= 243
        assert [line for line in setting.said if "more than once" in line] == setting.said[:1]

    def test_an_empty_page_too_early_is_tried_again(self, double, setting) -> None:
        double.total = 250
        empty = {"meta": {"total_results": 0, "indices": ["cw12"]}, "results": []}
        double.faults = [[], [empty]]
        assert len(setting.chatnoir(double).retrieve([TEA], 1000)[0]) == 250
        assert "empty page after 100 of 250 results; try 2 of 4" in setting.said[0]

    def test_a_service_that_counts_too_many_ends_with_a_warning(self, double, setting) -> None:
        double.total, double.counted = 100, 300
        assert len(setting.chatnoir(double).retrieve([TEA], 1000)[0]) == 100
        assert "going on with the 100 results" in setting.said[-1]
        assert double.asked("POST") == 1 + QUICK.tries

    def test_no_first_page_is_an_error(self, double, setting) -> None:
        double.total, double.counted = 0, 300
        with pytest.raises(ServiceError, match="empty page after 0 of 300 results, 4 times"):
            setting.chatnoir(double).retrieve([TEA], 1000)

    def test_a_service_that_does_not_count(self, double, setting) -> None:
        double.total, double.counted = 230, 0
        assert len(setting.chatnoir(double).retrieve([TEA], 1000)[0]) == 230

    def test_ties_stand_in_one_order(self, double, setting, tmp_path: Path) -> None:
        double.equal_scores = True
        names = [
            Setting(tmp_path / str(n)).chatnoir(double).retrieve([TEA], k)[0].ids
            for n, k in enumerate((25, 100, 25))
        ]
        assert names[0] == names[1] == names[2] == tuple(sorted(names[0]))


class TestTexts:
    def test_a_fault_is_survived(self, double, setting) -> None:
        retriever = setting.chatnoir(double)
        ranking = retriever.retrieve([TEA], 20)[0]
        double.faults = [["500", "cut"], ["429 3"], [], ["hang up"] * 3]
        pages = retriever.records(ranking)
        assert all(page.text for page in pages)
        assert double.asked("GET") == 26
        assert len(setting.said) == 6

    def test_a_page_may_have_moved(self, double, setting) -> None:
        retriever = setting.chatnoir(double)
        ranking = retriever.retrieve([TEA], 1)[0]
        double.faults = [["here"]]
        assert retriever.records(ranking)[0].text
        assert (double.asked("GET"), setting.said) == (2, [])

    def test_an_empty_text_is_tried_again(self, double, setting) -> None:
        retriever = setting.chatnoir(double)
        ranking = retriever.retrieve([TEA], 1)[0]
        double.faults = [["empty"]]
        assert retriever.records(ranking)[0].text
        assert "sent an empty page; try 2 of 4" in setting.said[0]

    def test_an_absent_page_keeps_its_snippet(self, double, setting) -> None:
        double.absent = frozenset(page_uuid(trec_id(n)) for n in range(5))
        retriever = setting.chatnoir(double)
        pages = retriever.records(retriever.retrieve([TEA], 20)[0])
        assert [bool(page.text) for page in pages] == [False] * 5 + [True] * 15
        assert pages[0].default_text().endswith("is <cheap>")
        assert len(setting.said) == 5
        assert double.asked("GET") == 20

    def test_many_failures_end_with_an_error_and_nothing_lost(self, double, setting) -> None:
        double.broken = frozenset(page_uuid(trec_id(n)) for n in range(10, 20))
        retriever = setting.chatnoir(double)
        ranking = retriever.retrieve([TEA], 20)[0]
        with pytest.raises(ServiceError, match="status 500, 4 times; what it gave before is kept"):
            retriever.records(ranking)
        had = Counter(path for method, path, _ in double.requests if method == "GET")
        double.broken, double.requests[:] = frozenset(), []
        assert all(page.text for page in retriever.records(ranking))
        again = {path for _, path, _ in double.requests}
        broken = {page_uuid(trec_id(n)) for n in range(10, 20)}
        asked_before = {path for path in had if not any(uuid in path for uuid in broken)}
        assert again.isdisjoint(asked_before)

    def test_few_failures_are_tolerated_and_asked_for_again(self, double, setting) -> None:
        double.broken = frozenset([page_uuid(trec_id(2))])
        retriever = setting.chatnoir(double)
        ranking = retriever.retrieve([TEA], 5)[0]
        assert [bool(page.text) for page in retriever.records(ranking)] == [1, 1, 0, 1, 1]
        double.broken = frozenset()
        assert all(page.text for page in retriever.records(ranking))
