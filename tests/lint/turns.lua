-- Turns of phrase that have to be read twice, and the plain English for each. prose.lua refuses
-- them in comments, in Markdown and in commit subjects.
--
-- { phrases, instead, before = .., after = .. }: phrases are in small letters. A phrase is plain
-- English, and is not refused, after a word of `before` or before a word of `after`.
return {
  { { "is no", "are no", "was no", "were no" }, "'is not a ..'",
    before = { "there" },
    after = { "longer", "more", "less", "fewer", "better", "worse", "larger", "earlier", "later" } },
  { { "is none", "are none", "was none", "were none" }, "'is not one'", before = { "there" } },
  { { "is another one", "is another than", "are others than" }, "'differs from', 'is a different one'" },
  { { "is said", "are said", "was said", "were said", "be said" }, "'is reported', or who says it", after = { "to" } },
  { { "is told", "are told", "was told", "were told", "be told" },
    "'gets', 'knows', or who tells whom", after = { "to", "apart" } },
  { { "what is there", "what there is of", "what is of", "what stands there", "what stands of" },
    "the thing itself, as in 'the part that exists'" },
  { { "what has come of", "what came of", "comes of", "come of" }, "'the result of', 'results from'" },
  { { "as of a", "as of an" }, "'as in a ..', 'as for a ..'" },
  { { "goes on with", "go on with", "went on with", "gone on with", "going on with" }, "'continues', 'resumes'" },
  { { "stand in", "stands in", "stood in" }, "'is in'", after = { "for" } },
  { { "who reads", "who looks", "who asks", "who waits", "who takes", "who wants it" },
    "who that is: 'the reader', 'a caller that ..', 'a user who ..'",
    before = { "user", "users", "person", "people", "reader", "somebody", "anybody", "everybody", "nobody", "those" } },
  { { "whose it is", "whose process it is", "whose output it is", "whose job it is", "whose folder it is" },
    "'which .. it belongs to', 'its owner'" },
  { { "anew" }, "'again', 'a new ..'" },
  { { "of what" }, "the noun: 'of the files that ..', 'of the result'", after = { "run" } },
  { { "is let", "are let" }, "'may', 'is allowed to'" },
  { { "to be had" }, "'available', 'can be read'" },
  { { "for people" }, "'human-readable', 'for users'", after = { "who", "that" } },
  { { "with words" }, "'with a message'" },
  { { "such a one", "such an one" }, "the noun again" },
  { { "where that is not so", "where it is not so", "that is so where" }, "'otherwise', 'if not'" },
  { { "nobody's any more", "is nobody's" }, "'nobody uses it'" },
}
