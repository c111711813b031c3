/**
 * Text that a spreadsheet program would evaluate: it begins with a formula sign, or a character that the
 * program skips, such as a byte order mark; or apostrophes already protect it.
 */
export const activeText = /^'*[=+\-@\t\r\n\0\uFEFF＝＋－＠]/;

/**
 * Volley's columns in a result file, behind those of the contact file. Volley recognises a result file by them.
 */
export const resultFileColumns = [
  'Volley Run',
  'Volley File',
  'Volley Line',
  'Volley State',
  'Volley Column',
  'Volley Reason',
  'Volley Address',
  'Volley Variant',
  'Volley MessageID',
  'Volley Units',
  'Volley Price',
  'Volley Row',
] as const;

/** Volley recognises its own suppression list by these columns. */
export const suppressionListColumns = [
  'Channel',
  'Address',
  'Account',
  'SubAccount',
  'Source',
  'Since (UTC)',
  'Reason',
] as const;
