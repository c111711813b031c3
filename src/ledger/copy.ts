const special = /[\\\n\r\t\0]/;
const everySpecial = new RegExp(special, 'g');
const escapes: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\0': '',
};

/** A value in COPY's text format. NUL cannot be stored in Postgres and is dropped. */
export function copyValue(value: string): string {
  return special.test(value) ? value.replace(everySpecial, (found) => escapes[found] ?? '') : value;
}
