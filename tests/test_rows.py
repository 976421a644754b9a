from tools import rows


class TestTable:
    def test_table_reads_ids_and_names(self):
        text = "| row | what |\n|---|---|\n| F09 | A thing |\nNo row: | F10\n"

        assert rows.table(text) == {"F09": "A thing"}


class TestMarks:
    def test_marks_finds_one_and_several(self):
        source = '@pytest.mark.row("L01")\npytestmark = pytest.mark.row("D01", "D02")'

        assert rows.marks([source]) == {"L01", "D01", "D02"}

    def test_marks_ignores_other_marks(self):
        assert rows.marks(['@pytest.mark.parametrize("L01")']) == set()


class TestMain:
    def test_every_mark_names_a_row(self, capsys):
        assert rows.main(check=False) == 0, capsys.readouterr().out
