/* browser.h - opens the portal in a browser.
 *
 * Everybody can read command lines, so a browser gets a file that leads to the URL; only its owner
 * can read it.
 */
#ifndef TM_PORTAL_BROWSER_H
#define TM_PORTAL_BROWSER_H

struct tm_browser_file {
  char *path; /* NULL: there is none */
};

/* Says on standard error if there is no browser. */
void tm_browser_open(struct tm_browser_file *f, const char *workspace, const char *url);
void tm_browser_file_remove(struct tm_browser_file *f);

#endif
