/* onnx_support.c - see onnx_support.h. The table was measured: each version was given models of all
 * opsets and IR versions. */
#include "model/onnx_support.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

struct release {
  int minor; /* of version 1: the first with these opsets, and this newest version of the format */
  int64_t onnx, ml, ir;
};

static const struct release releases[] = {
  { 17, 20, 4, 9 },  { 18, 21, 5, 10 }, { 21, 22, 5, 10 },
  { 23, 23, 5, 11 }, { 24, 25, 5, 13 }, { 25, 26, 5, 13 },
};
#define NEWEST_KNOWN 30 /* minor version: what newer ones have is unknown */

#define IR "IR" /* among the domains: the version of the format */

static bool has_table(const char *domain)
{
  return tm_text_has_word("ai.onnx|ai.onnx.ml|" IR, domain, strlen(domain));
}

static int64_t newest_of(const struct release *r, const char *domain)
{
  return strcmp(domain, IR) == 0 ? r->ir : strcmp(domain, "ai.onnx.ml") == 0 ? r->ml : r->onnx;
}

int64_t tm_onnx_newest_opset(const char *domain, const char *version)
{
  int major, minor;
  int64_t newest = 0;
  if (!has_table(domain) || sscanf(version, "%d.%d", &major, &minor) != 2 || major != 1 ||
      minor > NEWEST_KNOWN)
    return 0;
  for (size_t i = 0; i < TM_COUNT_OF(releases) && releases[i].minor <= minor; i++)
    newest = newest_of(&releases[i], domain);
  return newest;
}

/* "1.18 or newer" */
static void add_needed(struct tm_buf *out, const char *domain, int64_t wanted)
{
  for (size_t i = 0; i < TM_COUNT_OF(releases); i++)
    if (newest_of(&releases[i], domain) >= wanted) {
      tm_buf_printf(out, "1.%d or newer", releases[i].minor);
      return;
    }
  tm_buf_printf(out, "one newer than 1.%d", NEWEST_KNOWN);
}

static int check_opset(const struct tm_onnx_opset *o, const char *version, struct tm_err *err)
{
  struct tm_buf needed = TM_BUF_NONE;
  int64_t newest = tm_onnx_newest_opset(o->domain, version);
  if (newest == 0 || o->version <= newest)
    return 0;
  add_needed(&needed, o->domain, o->version);
  tm_err_set(err, TM_EVERSION,
             "the model has opset %lld of %s, and ONNX Runtime %s has %lld; use %s, or export the "
             "model with opset %lld",
             (long long)o->version, o->domain, version, (long long)newest, tm_buf_str(&needed),
             (long long)newest);
  tm_buf_release(&needed);
  return TM_EVERSION;
}

static int check_ir(int64_t ir, const char *version, struct tm_err *err)
{
  struct tm_buf needed = TM_BUF_NONE;
  int64_t newest = tm_onnx_newest_opset(IR, version);
  if (newest == 0 || ir <= newest)
    return 0;
  add_needed(&needed, IR, ir);
  tm_err_set(err, TM_EVERSION,
             "the model has version %lld of the ONNX format (IR), and ONNX Runtime %s reads up to "
             "%lld; use %s, or save the model with ir_version = %lld, as Python's package onnx can",
             (long long)ir, version, (long long)newest, tm_buf_str(&needed), (long long)newest);
  tm_buf_release(&needed);
  return TM_EVERSION;
}

int tm_onnx_check_versions(const struct tm_onnx_file *f, const char *version, struct tm_err *err)
{
  int rc = 0;
  for (size_t i = 0; i < f->opsets.len && rc == 0; i++)
    rc = check_opset(&f->opsets.at[i], version, err);
  return rc < 0 ? rc : check_ir(f->ir_version, version, err);
}

/* ---- operators ---- */

static bool is_known_domain(const struct tm_onnx_file *f, const char *domain)
{
  static const char known[] = "ai.onnx|ai.onnx.ml|ai.onnx.training|ai.onnx.preview|"
                              "ai.onnx.preview.training|com.microsoft|com.microsoft.nchwc|"
                              "com.microsoft.experimental|com.ms.internal.nhwc|org.pytorch.aten";
  if (tm_text_has_word(known, domain, strlen(domain)))
    return true;
  for (size_t i = 0; i < f->functions.len; i++)
    if (strcmp(f->functions.at[i].domain, domain) == 0)
      return true;
  return false;
}

static bool is_word(char c)
{
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

static bool names(const char *message, const char *type)
{
  size_t n = strlen(type);
  for (const char *at = message; n > 0 && (at = strstr(at, type)) != NULL; at += n)
    if ((at == message || !is_word(at[-1])) && !is_word(at[n]))
      return true;
  return false;
}

static int64_t opset_of_model(const struct tm_onnx_file *f, const char *domain)
{
  for (size_t i = 0; i < f->opsets.len; i++)
    if (strcmp(f->opsets.at[i].domain, domain) == 0)
      return f->opsets.at[i].version;
  return 0;
}

static int refuse(const struct tm_onnx_operator *o, const char *version, int64_t opset,
                  struct tm_err *err)
{
  struct tm_buf words = TM_BUF_NONE;
  tm_buf_add_str(&words, "node '");
  tm_text_one_line(&words, o->node, strlen(o->node), 200);
  tm_buf_add_str(&words, "' needs the operator '");
  tm_text_one_line(&words, o->type, strlen(o->type), 100);
  tm_buf_add_str(&words, "' of ");
  tm_text_one_line(&words, o->domain, strlen(o->domain), 100);
  tm_buf_printf(&words, ", which ONNX Runtime %s does not have", version);
  if (opset > 0)
    tm_buf_printf(&words, " in opset %lld; export the model with another opset", (long long)opset);
  else
    tm_buf_add_str(&words, "; custom operators are not loaded: export the model without them");
  tm_err_set(err, TM_EINPUT, "%s", tm_buf_str(&words));
  tm_buf_release(&words);
  return TM_EINPUT;
}

int tm_onnx_check_operators(const struct tm_onnx_file *f, const char *version, const char *message,
                            struct tm_err *err)
{
  bool is_unknown =
      strstr(message, "is not a registered function/op") || strstr(message, "No Op registered for");
  for (size_t i = 0; i < f->operators.len; i++) {
    const struct tm_onnx_operator *o = &f->operators.at[i];
    if (!is_known_domain(f, o->domain))
      return refuse(o, version, 0, err);
  }
  for (size_t i = 0; i < f->operators.len && is_unknown; i++) {
    const struct tm_onnx_operator *o = &f->operators.at[i];
    int64_t opset = opset_of_model(f, o->domain);
    if (opset > 0 && names(message, o->type))
      return refuse(o, version, opset, err);
  }
  return 0;
}
