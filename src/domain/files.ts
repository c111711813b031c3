/**
 * A text with which a spreadsheet program would begin to compute: what it begins with, or the full-width form of that, or
 * a character that it passes over first, a byte order mark among them; or such a text that was made inert already, by
 * apostrophes before it.
 */
export const activeText = /^'*[=+\-@\t\r\n\0\uFEFF＝＋－＠]/;

/** Volley's own columns in a result file, after those of the contact files. They tell a result file that is read again. */
export const resultFileColumns = [
  'Volley Run',
  'Volley File',
  'Volley Line',
  'Volley State',
  'Volley Column',
  'Volley Reason',
  'Volley Address',
  'Volley MessageID',
  'Volley Units',
  'Volley Price',
  'Volley Row',
] as const;

/** The columns of a list of suppressions as Volley writes it. They tell such a list that is read again. */
export const suppressionListColumns = [
  'Channel',
  'Address',
  'Account',
  'SubAccount',
  'Source',
  'Since (UTC)',
  'Reason',
] as const;
