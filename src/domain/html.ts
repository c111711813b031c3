const references: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '"': '&quot;',
  "'": '&#39;',
  '<': '&lt;',
  '>': '&gt;',
};

/** Escapes text, so that HTML shows it as it stands, in content and in quoted attributes. */
export function htmlEscape(text: string): string {
  return text.replace(/[&"'<>]/g, (character) => references[character] ?? character);
}
