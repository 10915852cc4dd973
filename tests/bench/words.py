"""Words for generated vaults: the most frequent ones of English, invented ones in any number, and other scripts."""

from __future__ import annotations

import random
from typing import Final

_FREQUENT: Final = (
    "the of and to in a is that for it as was with be by on not he this are or his from at which but have an had they you were "
    "their one all we can her has there been if more when will would who so no what up out about into than them some could time "
    "these two may then do first any my now such like our over man me even most made after also did many before must through "
    "years where much your way well down should because each just those people how too little state good very make world still own "
    "see men work long here get both between life being under never day same another know while last might us great old year off "
    "come since against go came right used take three system project notes kernel driver review meeting budget garden travel "
    "question answer reading health water light winter music letter history family computer plan draft idea book summary weekly"
)
_STARTS: Final = "b bl br c ch cl d dr f fl g gr h j k l m n p pl pr qu r s sh sl st t th tr v w"
_MIDDLES: Final = "a e i o u ai ea ee ia io oa ou"
_ENDS: Final = "b ck d g l ll m n nd ng nt p r rd rn s ss st t x"

FREQUENT: Final = tuple(_FREQUENT.split())
"""In order: the first is in nearly every note, the last in some of a hundred."""

OTHER_SCRIPTS: Final = tuple(
    tuple(words.split())
    for words in (
        "会議メモ。 買い物リスト 日本語の文章、 東京 データ 計画書 読書ノート。 来週の予定、 系統 資料",
        "系統 會議記錄。 筆記 花園 專案計畫， 歷史 電腦 閱讀 冬天 我們 需要 更多 時間。",
        "회의록 계획 서울 독서 메모 프로젝트",
        "детали встреча проект книга зима Москва вопрос ответ история",
        "ประชุม สวนหลังบ้าน หนังสือ โครงการ คำถาม",
        "می‌روم کتاب باغ نامه پرسش خانه‌ها",
        "Straße größe Übung Gemüse Frühling Schlüssel Küche Änderung",
        "été forêt déjà garçon œuvre naïve élève château",
    )
)


def invented(chance: random.Random, many: int) -> list[str]:
    """So many different words of one to three syllables; the early ones are short, as frequent words are."""
    known = set(FREQUENT)
    starts, middles, ends = _STARTS.split(), _MIDDLES.split(), _ENDS.split()
    found: dict[str, None] = {}
    while len(found) < many:
        longest = 1 if len(found) < 400 else 2 if len(found) < 4_000 else 3
        shortest = 1 if len(found) < 2_000 else 2
        word = "".join(
            chance.choice(starts) + chance.choice(middles) + (chance.choice(ends) if chance.random() < 0.6 else "")
            for _ in range(chance.randint(shortest, longest))
        )
        if len(word) > 3 and word not in known:
            found[word] = None
    return list(found)
