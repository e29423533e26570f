/* handed.c - see handed.h. */
#include "step/handed.h"

#include "record/part.h"

void tm_handed_emit(struct tm_worker *w, const struct tm_in_flight *held)
{
  const struct tm_step *step = w->s->o.step;
  const struct tm_dataset *input =
      held->dataset < step->inputs_len ? step->inputs[held->dataset] : NULL;
  uint64_t part = held->part;
  struct tm_attempt attempt = { .index = held->index,
                                .try = held->try,
                                .picked = held->picked,
                                .part_first = part != 0 ? (int64_t)tm_part_first(part) + 1 : 0,
                                .items = held->items,
                                .message = "",
                                .stack = "",
                                .script_where = "",
                                .dataset = input && input->name ? input->name : "",
                                .first_item = held->first_item->bytes,
                                .first_item_len = held->first_item->len,
                                .has_keys = held->has_keys,
                                .are_rows = input && tm_dataset_is_table(input),
                                .manifest_at = held->manifest_at };
  struct tm_event e = { .kind = TM_EVENT_HANDED_OUT, .attempt = &attempt };

  tm_supervisor_emit(w->s, &e, w);
}
