/* page_control.c - what can be done with a job: the buttons and their dialogs, and the action. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "portal/job_files.h"
#include "portal/pages/pages.h"

static const struct {
  const char *button, *title, *words, *command, *option;
} kinds[] = {
  [TM_CONTROL_CANCEL] = { "Cancel", "Cancel the job?",
                          "It hands out no more mini-batches. Those that run may end. It can be "
                          "resumed. While they run, the button cancels it at once.",
                          "cancel", "" },
  [TM_CONTROL_CANCEL_NOW] = { "Cancel now", "Cancel the job now?",
                              "Somebody has asked it to end already. Mini-batches that run are "
                              "killed. It can be resumed.",
                              "cancel", " --now" },
  [TM_CONTROL_RESUME] = { "Resume", "Resume the job?",
                          "It continues where it ended. Mini-batches that failed get new tries, "
                          "and "
                          "those that succeeded do not run again. It also continues if the portal "
                          "ends.",
                          "resume", "" },
  [TM_CONTROL_ONLY_FAILED] = { "Run failed items again", "Run the failed items again?",
                               "A new job runs only the items that failed in this one, which stays "
                               "as it is. The new job appears in the list of jobs. It continues if "
                               "the portal ends.",
                               "", "" },
  [TM_CONTROL_REPLAY] = { "Replay", "Replay the mini-batch?",
                          "Its items run once more, now and on this machine, and the output "
                          "appears on this page. The job does not change; what the script does "
                          "elsewhere happens again. The replay ends when the page is closed.",
                          "replay", "" },
};

static void add_what(struct tm_html *h, const struct tm_visit *v, const char *key,
                     enum tm_control_action action, const char *command)
{
  if (!v->portal->access.allows_control) {
    tm_html_put(h, "p", "This portal can only show jobs. Type this command instead:");
    tm_piece_command(h, command);
    tm_html_put(h, "p class='dim'",
                "A portal that was started with --allow-control does it itself.");
    return;
  }
  tm_html_put(h, "p class='dim'", command);
  tm_html_put(h, "p class='said' role='status'", "");
  tm_html_open(h, "button type='button'");
  tm_html_attr(h, "data-job", key);
  tm_html_attr(h, "data-action", tm_control_name(action));
  tm_html_text(h, kinds[action].button);
  tm_html_close(h, "button");
}

static void add_dialog(struct tm_html *h, const struct tm_visit *v, const char *key,
                       enum tm_control_action action, const char *command)
{
  const char *name = tm_control_name(action);
  tm_html_open(h, "button type='button'");
  tm_html_attrf(h, "data-dialog", "control-%s", name);
  tm_html_textf(h, "%s…", kinds[action].button);
  tm_html_close(h, "button");
  tm_html_open(h, "dialog");
  tm_html_attrf(h, "id", "control-%s", name);
  tm_html_attrf(h, "aria-labelledby", "control-%s-title", name);
  tm_html_open(h, "h2");
  tm_html_attrf(h, "id", "control-%s-title", name);
  tm_html_text(h, kinds[action].title);
  tm_html_close(h, "h2");
  tm_html_put(h, "p", kinds[action].words);
  add_what(h, v, key, action, command);
  tm_html_put(h, "button type='button' data-close=''", "Close");
  tm_html_close(h, "dialog");
}

/* Without a script there is no dialog, but the command. */
static void add_offer(struct tm_html *h, const struct tm_visit *v, const char *key,
                      enum tm_control_action action, const char *command)
{
  add_dialog(h, v, key, action, command);
  tm_html_open(h, "noscript");
  tm_piece_command(h, command);
  tm_html_close(h, "noscript");
}

/* If the portal has started the command that prints into this file. */
static void add_log(struct tm_html *h, const struct tm_visit *v, const char *key, const char *dir,
                    const char *log, const char *words)
{
  struct tm_job_file file;
  if (tm_job_file_open(&file, dir, log, NULL) < 0)
    return;
  close(file.fd);
  tm_html_open(h, "p class='dim'");
  tm_html_text(h, words);
  tm_html_open(h, "a");
  tm_frame_href(h, v, "jobs/%s/view/end/%s", key, log);
  tm_html_text(h, log);
  tm_html_close(h, "a");
  tm_html_close(h, "p");
}

static void add_only_failed(struct tm_html *h, const struct tm_visit *v, const char *key,
                            struct tidemill_record *job)
{
  const struct tidemill_record_info *info = tidemill_record_info(job);
  const struct tidemill_rerun *rerun;
  const char *words;
  if (tm_control_check(TM_CONTROL_ONLY_FAILED, info->state, &words) == 0 &&
      info->counts->items_failed > 0 && tidemill_record_rerun(job, &rerun, NULL) == 0)
    add_offer(h, v, key, TM_CONTROL_ONLY_FAILED, rerun->text);
}

void tm_piece_control(struct tm_html *h, const struct tm_visit *v, const char *key,
                      struct tidemill_record *job)
{
  const struct tidemill_record_info *info = tidemill_record_info(job);
  struct tm_buf command = TM_BUF_NONE;
  if (*tm_text_or_empty(info->fault)) /* it cannot be read */
    return;
  enum tm_control_action action = tm_control_offer(info->state, *info->cancel_asked_by != '\0');
  if (action != TM_CONTROL_NONE) {
    tm_buf_printf(&command, "tidemill %s ", kinds[action].command);
    tm_text_shell(&command, info->dir);
    tm_buf_add_str(&command, kinds[action].option);
    add_offer(h, v, key, action, tm_buf_str(&command));
  }
  add_only_failed(h, v, key, job);
  add_log(h, v, key, info->dir, TM_CONTROL_LOG, "The portal has resumed it; what that printed: ");
  add_log(h, v, key, info->dir, TM_CONTROL_RERUN_LOG,
          "The portal has run its failed items again; what that printed: ");
  tm_buf_release(&command);
}

/* What the script shows of a replay. */
static void add_output(struct tm_html *h)
{
  tm_html_open(h, "div id='replay-shown' hidden");
  tm_html_put(h, "p id='replay-state' role='status'", "");
  tm_html_put(h, "button type='button' id='replay-stop'", "Stop");
  tm_html_put(h, "p class='more' id='replay-cut' hidden",
              "The beginning is left out: the page keeps the last 1 MB.");
  tm_html_put(h,
              "pre id='replay-output' role='log' aria-live='off' tabindex='0' "
              "aria-label='Output of the replay'",
              "");
  tm_html_close(h, "div");
}

void tm_piece_replay(struct tm_html *h, const struct tm_visit *v, const char *key, const char *step,
                     const char *number, const char *command)
{
  tm_html_open(h, "div");
  tm_html_attr(h, "data-step", step);
  tm_html_attr(h, "data-number", number);
  add_dialog(h, v, key, TM_CONTROL_REPLAY, command);
  if (v->portal->access.allows_control)
    add_output(h);
  tm_html_close(h, "div");
}

/* The script reads it as it comes. */
static void answer_output(const struct tm_visit *v, int output)
{
  tm_answer_init(v->answer, 200, TM_ANSWER_OUTPUT);
  v->answer->fd = output;
}

void tm_page_action(const struct tm_visit *v)
{
  struct tm_control_reply reply;
  enum tm_control_action action = tm_control_action_of(v->route.words[1]);
  struct tm_control_request r = { action, v->route.words[0], v->route.words[2], -1 };
  const char *words;
  if ((action == TM_CONTROL_REPLAY) != (r.step != NULL))
    action = TM_CONTROL_NONE;
  if (action == TM_CONTROL_NONE) {
    int status = tm_control_check(action, TIDEMILL_STATE_RUNNING, &words);
    tm_frame_plain(v->answer, status, "Refused", words, false);
    return;
  }
  if (r.step && !tm_text_int(v->route.words[3], &r.mini_batch))
    r.mini_batch = -1;
  tm_control_ask(&v->portal->control, &r, &reply);
  if (reply.output >= 0)
    answer_output(v, reply.output);
  else
    tm_frame_plain(v->answer, reply.status, reply.status == 202 ? "Asked for" : "Refused",
                   reply.text, false);
}
