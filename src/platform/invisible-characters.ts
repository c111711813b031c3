/** Controls, format characters, all spaces except the ordinary one, and characters without a glyph. */
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/gu;

const names: Readonly<Record<string, string>> = {
  '\0': 'NULL',
  '\t': 'TAB',
  '\n': 'LINE FEED',
  '\v': 'VERTICAL TAB',
  '\f': 'FORM FEED',
  '\r': 'CARRIAGE RETURN',
  '\u001b': 'ESCAPE',
  '\u007f': 'DELETE',
  '\u0085': 'NEXT LINE',
  '\u00a0': 'NO-BREAK SPACE',
  '\u00ad': 'SOFT HYPHEN',
  '\u034f': 'COMBINING GRAPHEME JOINER',
  '\u061c': 'ARABIC LETTER MARK',
  '\u180e': 'MONGOLIAN VOWEL SEPARATOR',
  '\u2002': 'EN SPACE',
  '\u2003': 'EM SPACE',
  '\u2007': 'FIGURE SPACE',
  '\u2009': 'THIN SPACE',
  '\u200a': 'HAIR SPACE',
  '\u200b': 'ZERO WIDTH SPACE',
  '\u200c': 'ZERO WIDTH NON-JOINER',
  '\u200d': 'ZERO WIDTH JOINER',
  '\u200e': 'LEFT-TO-RIGHT MARK',
  '\u200f': 'RIGHT-TO-LEFT MARK',
  '\u2028': 'LINE SEPARATOR',
  '\u2029': 'PARAGRAPH SEPARATOR',
  '\u202a': 'LEFT-TO-RIGHT EMBEDDING',
  '\u202b': 'RIGHT-TO-LEFT EMBEDDING',
  '\u202c': 'POP DIRECTIONAL FORMATTING',
  '\u202d': 'LEFT-TO-RIGHT OVERRIDE',
  '\u202e': 'RIGHT-TO-LEFT OVERRIDE',
  '\u202f': 'NARROW NO-BREAK SPACE',
  '\u2060': 'WORD JOINER',
  '\u2066': 'LEFT-TO-RIGHT ISOLATE',
  '\u2067': 'RIGHT-TO-LEFT ISOLATE',
  '\u2068': 'FIRST STRONG ISOLATE',
  '\u2069': 'POP DIRECTIONAL ISOLATE',
  '\u3000': 'IDEOGRAPHIC SPACE',
  '\ufeff': 'BYTE ORDER MARK',
};

/** Such as `U+200B ZERO WIDTH SPACE`. */
export function characterName(character: string): string {
  const code = `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
  const name = names[character];
  return name === undefined ? code : `${code} ${name}`;
}

/** Replaces invisible characters by their names: `0412<U+200B ZERO WIDTH SPACE>345678`. */
export function showInvisible(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return text;
  return text.replace(invisible, (character) => `<${characterName(character)}>`);
}

/** Includes spaces other than the ordinary one. */
export function firstInvisible(text: string): string | undefined {
  return text.match(invisible)?.[0];
}

/** Characters that change the direction of the text after them. */
export function bidiControls(text: string): string[] {
  return text.match(/\p{Bidi_Control}/gu) ?? [];
}
