import type { Encoding } from '../../src/contacts/contact-file.ts';

export type Written = Exclude<Encoding, 'mac-roman'>;

/** Letters that Latin-1 lacks, as far as tests need them. */
const windows1252Only: Readonly<Record<string, string>> = { '€': '\x80', '’': '\x92', Š: '\x8a', ž: '\x9e' };

export function encode(text: string, encoding: Written, mark = false): Buffer {
  const marked = mark ? `\ufeff${text}` : text;
  switch (encoding) {
    case 'utf-8':
      return Buffer.from(marked, 'utf8');
    case 'utf-16le':
      return Buffer.from(marked, 'utf16le');
    case 'utf-16be':
      return Buffer.from(marked, 'utf16le').swap16();
    case 'windows-1252':
      return Buffer.from(
        text.replaceAll(/[€’Šž]/g, (letter) => windows1252Only[letter] ?? ''),
        'latin1',
      );
  }
}
