/* pieces.h - cuts the inputs of a call into pieces along the first axis.
 *
 * Two reasons: `rows_max`, and a model whose first axis has a fixed size. Such a model always gets
 * pieces of that size. The last one is filled up with zeros, and the rows of the filling are
 * dropped from the outputs. Inputs that have no such axis go to every piece as they are.
 *
 * Pure. The caller makes a plan, runs each piece, and joins the outputs.
 */
#ifndef TM_MODEL_PIECES_H
#define TM_MODEL_PIECES_H

#include <stdbool.h>

#include "model/signature.h"

struct tm_pieces {
  int64_t rows;   /* of the inputs that are cut */
  int64_t size;   /* of a piece; 0: nothing is cut */
  int64_t pieces; /* 1 or more */
  bool is_fixed;  /* every piece has `size` rows */
  bool *is_cut;   /* for each input */
};

/* `inputs`: one for each of the model. `rows_max`: 0 for none. TM_EUSAGE: the outputs of pieces
 * could not be joined. Release it in every case. */
int tm_pieces_plan(struct tm_pieces *b, const struct tm_signature *s,
                   const struct tm_tensor *const *inputs, int64_t rows_max, struct tm_err *err);
void tm_pieces_release(struct tm_pieces *b);

/* The rows of the inputs that a piece has, without the filling. */
int64_t tm_pieces_rows(const struct tm_pieces *b, int64_t piece);
/* The part of an input that a piece gets, which points into it. *fill: rows of zeros that have to
 * follow. */
struct tm_tensor tm_pieces_part(const struct tm_pieces *b, size_t input, const struct tm_tensor *t,
                                int64_t piece, int64_t *fill);

#endif
