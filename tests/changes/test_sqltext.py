import pytest

from ai_assistant.changes.capture.sql_text import (
    UNCLEAR,
    assigned_columns,
    insert,
    parse_plain_statement,
    statement_kind,
    table_of,
)

DELETE = 'DELETE FROM "a"'
COLUMNS = '"a" SET "b" = %s, "c" = NULL, "d" = ("d" + %s), "e" = LOWER("e" || \', \')'


class TestKind:
    @pytest.mark.parametrize(
        ("sql", "kind"),
        [
            ("select 1", "read"),
            ("(SELECT 1) UNION (SELECT 2)", "read"),
            ("SELECT 1 FOR UPDATE", "read"),
            ('SELECT "INTO" FROM t', "read"),
            ("SELECT 1 INTO t", "other"),
            ("WITH x AS (SELECT 1) SELECT * FROM x FOR UPDATE", "read"),
            ("WITH x AS (DELETE FROM t RETURNING id) SELECT * FROM x", "other"),
            ("EXPLAIN ANALYZE DELETE FROM t", "other"),
            ("/* a */ -- b\n INSERT INTO t VALUES (1)", "insert"),
            ("MERGE INTO t USING u ON true", "other"),
            ("DO $$ BEGIN END $$", "other"),
            ("CALL f()", "other"),
            ("", "other"),
        ],
    )
    def test_kind_is_that_of_the_first_word(self, sql, kind):
        assert statement_kind(sql) == kind


class TestPlain:
    def test_parts_an_update(self):
        found = parse_plain_statement(
            f'UPDATE {COLUMNS} WHERE ("a"."x" = %s)', (1, 2, 3)
        )

        assert (found.table, found.where, found.params) == ("a", '("a"."x" = %s)', (3,))
        assert found.assigned == {"b": 1, "c": None, "d": UNCLEAR, "e": UNCLEAR}

    def test_parts_one_of_all_rows(self):
        assert parse_plain_statement(f"UPDATE {COLUMNS}", (1, 2)).where == ""
        assert parse_plain_statement('DELETE FROM "a"', None).where == ""

    def test_plain_keeps_the_conditions_of_subqueries(self):
        where = '"a"."id" IN (SELECT U0."id" FROM "b" U0 WHERE U0."x" = %s)'

        found = parse_plain_statement(f"{DELETE} WHERE {where}", (7,))

        assert (found.where, found.params) == (where, (7,))

    @pytest.mark.parametrize(
        ("sql", "params"),
        [
            ('UPDATE "a" SET "b" = 1 FROM "c" WHERE "a"."id" = "c"."id"', ()),
            ('DELETE FROM "a" USING "c" WHERE "a"."id" = "c"."id"', ()),
            ('UPDATE "a" SET "b" = %s WHERE "b" = %s', (1,)),
            ('UPDATE "a" SET "b" = %(b)s', {"b": 1}),
            ('UPDATE "a" SET "b" = 1; DELETE FROM "a"', ()),
            ('UPDATE "a" SET "b" = 1 -- WHERE id = 1', ()),
            ('UPDATE "a" SET "b" = 1 /* WHERE id = 1 */', ()),
            ('UPDATE "a" SET "b" = E\'\\\' WHERE \'', ()),
            ('UPDATE "a" SET "b" = $x$ WHERE $x$', ()),
            ('UPDATE "a" SET "b" = \'never ends', ()),
            ('DELETE FROM "a" WHERE "b" = 1 ORDER BY "c" LIMIT 1', ()),
            ("UPDATE a SET b = 1", ()),
            ('UPDATE ONLY "a" SET "b" = 1', ()),
            ('UPDATE "a" AS "x" SET "b" = 1', ()),
        ],
    )
    def test_plain_is_none_in_doubt(self, sql, params):
        assert parse_plain_statement(sql, params) is None


class TestInsert:
    @pytest.mark.parametrize(
        "sql",
        [
            'INSERT INTO "a" ("b", "c") VALUES (%s, %s), (%s, %s)',
            'INSERT OR IGNORE INTO "a" ("b") VALUES (%s), (%s), (%s), (%s)',
            'INSERT INTO "a" ("b") SELECT * FROM UNNEST(%s, %s, %s, %s)',
            'INSERT INTO "a" ("b") VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING',
        ],
    )
    def test_insert_is_one_that_overwrites_nothing(self, sql):
        assert insert(sql, (1, 2, 3, 4)).table == "a"
        returning = insert(f'{sql} RETURNING "a"."id", "a"."b"', (1, 2, 3, 4)).returning
        assert returning == ("id", "b")

    @pytest.mark.parametrize(
        "sql",
        [
            'INSERT OR REPLACE INTO "a" ("b") VALUES (%s)',
            'INSERT INTO "a" ("b") VALUES (%s) ON CONFLICT("b") DO UPDATE SET "b" = 1',
            "INSERT INTO a (b) VALUES (%s)",
            "REPLACE INTO a (b) VALUES (%s)",
        ],
    )
    def test_insert_is_none_for_others(self, sql):
        assert insert(sql, (1,)) is None


@pytest.mark.parametrize(
    ("sql", "table"),
    [
        ("update shop_a set x = 1", "shop_a"),
        ('TRUNCATE "shop_b"', "shop_b"),
        ("DELETE FROM ONLY shop_c", "shop_c"),
        ("SOMETHING", ""),
    ],
)
def test_table_is_the_first_that_is_named(sql, table):
    assert table_of(sql) == table


# As django-mptt closes a gap.
LAID_OUT = """
        UPDATE "genre"
        SET "lft" = CASE
                WHEN "lft" > %s
                    THEN "lft" + %s
                ELSE "lft" END,
            "rght" = CASE
                WHEN "rght" > %s
                    THEN "rght" + %s
                ELSE "rght" END
        WHERE "tree_id" = %s
          AND ("lft" > %s OR "rght" > %s)"""


class TestAssigned:
    @pytest.mark.parametrize(
        ("sql", "columns"),
        [
            (LAID_OUT, {"lft", "rght"}),
            (f"UPDATE {COLUMNS} WHERE 1 = 1", {"b", "c", "d", "e"}),
            ('UPDATE "a"\nSET "b  c" = 1', {"b  c"}),
        ],
    )
    def test_assigned_are_those_that_are_set(self, sql, columns):
        assert assigned_columns(sql) == columns

    @pytest.mark.parametrize(
        "sql",
        [
            f"{LAID_OUT}; {DELETE}",
            'UPDATE "a" SET "b" = "c"."d" FROM "c"',
            "UPDATE a SET b = 1",
            f"WITH x AS (SELECT 1) {LAID_OUT}",
            DELETE,
        ],
    )
    def test_assigned_are_none_where_it_is_unclear(self, sql):
        assert assigned_columns(sql) == frozenset()

    def test_assigned_has_no_column_for_several_at_once(self):
        found = assigned_columns('UPDATE "a" SET ("lft", "x") = (1, 2)')

        assert not {"lft", "x"} & found
        assert found
