const references: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '"': '&quot;',
  "'": '&#39;',
  '<': '&lt;',
  '>': '&gt;',
};

export function htmlEscape(text: string): string {
  return text.replace(/[&"'<>]/g, (character) => references[character] ?? character);
}
