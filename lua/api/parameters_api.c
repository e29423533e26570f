/* parameters_api.c - the table of parameters (params/params.h), for forms and help of hosts.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <tidemill.h>

#include "params/params.h"

static enum tidemill_parameter_type type_of(enum tm_field_type type)
{
  switch (type) {
  case TM_FIELD_INT: return TIDEMILL_PARAMETER_INTEGER;
  case TM_FIELD_SECONDS: return TIDEMILL_PARAMETER_SECONDS;
  case TM_FIELD_PERCENT: return TIDEMILL_PARAMETER_PERCENT;
  case TM_FIELD_SIZE: return TIDEMILL_PARAMETER_SIZE;
  case TM_FIELD_AMOUNT: return TIDEMILL_PARAMETER_AMOUNT;
  case TM_FIELD_CHOICE: return TIDEMILL_PARAMETER_CHOICE;
  case TM_FIELD_PATH: return TIDEMILL_PARAMETER_PATH;
  case TM_FIELD_FILE_NAME: return TIDEMILL_PARAMETER_FILE_NAME;
  case TM_FIELD_TEXT: return TIDEMILL_PARAMETER_TEXT;
  case TM_FIELD_SEPARATOR: return TIDEMILL_PARAMETER_CHARACTER;
  case TM_FIELD_BOOL: return TIDEMILL_PARAMETER_BOOL;
  case TM_FIELD_NAME:
  case TM_FIELD_WORD: return TIDEMILL_PARAMETER_NAME;
  case TM_FIELD_VARIABLES: return TIDEMILL_PARAMETER_VARIABLES;
  case TM_FIELD_NAMES: return TIDEMILL_PARAMETER_NAMES;
  case TM_FIELD_STRINGS: return TIDEMILL_PARAMETER_TEXT;
  case TM_FIELD_TYPES: return TIDEMILL_PARAMETER_TYPES;
  case TM_FIELD_ENVIRONMENT:
  case TM_FIELD_SCALAR:
  case TM_FIELD_LIST:
  case TM_FIELD_ANY:
  case TM_FIELD_OBJECT:
  case TM_FIELD_OBJECTS: break;
  }
  return TIDEMILL_PARAMETER_OTHER;
}

const char *tidemill_constructor(size_t i)
{
  return tm_params_kind(i);
}

static struct tidemill_parameter parameter_of(const struct tm_field *f)
{
  return (struct tidemill_parameter) {
    .name = f->name,
    .type = type_of(f->type),
    .help = f->help,
    .default_value = f->flags & TM_FIELD_REQUIRED ? NULL : f->otherwise,
    .choices = f->type == TM_FIELD_CHOICE ? f->accepts : NULL,
    .min = f->min,
    .max = f->max,
    .required = f->flags & TM_FIELD_REQUIRED,
    .may_be_parameter = f->flags & TM_FIELD_PARAMETER,
    .changeable = f->flags & TM_FIELD_CHANGEABLE,
  };
}

static void set_accepted(struct tidemill_parameter *p, const struct tm_field *f)
{
  struct tm_buf accepted = TM_BUF_NONE;
  tm_params_accepted(&accepted, f);
  snprintf(p->accepted, sizeof(p->accepted), "%s", tm_buf_str(&accepted));
  tm_buf_release(&accepted);
}

bool tidemill_parameter(const char *constructor, size_t i, struct tidemill_parameter *out)
{
  size_t n = 0;
  const struct tm_field *fields = constructor ? tm_params_fields(constructor, &n) : NULL;
  if (i >= n || !out || out->size == 0)
    return false;
  struct tidemill_parameter p = parameter_of(&fields[i]);
  p.size = out->size;
  if (out->size > offsetof(struct tidemill_parameter, accepted)) /* it is what takes time */
    set_accepted(&p, &fields[i]);
  memcpy(out, &p, out->size < sizeof(p) ? out->size : sizeof(p));
  return true;
}
