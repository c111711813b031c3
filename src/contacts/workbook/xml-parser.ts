import { TextDecoder } from 'node:util';
import { SaxesParser } from 'saxes';

/** Names are without their prefix. */
export type XmlHandlers = {
  readonly open?: (name: string, attributes: Readonly<Record<string, string>>) => void;
  readonly close?: (name: string) => void;
  /** The whole text between two tags. */
  readonly text?: (text: string) => void;
};

type XmlParser = {
  /** @throws XmlError */
  readonly write: (bytes: Buffer) => void;
  /** @throws XmlError */
  readonly end: () => void;
};

/** `message` completes a sentence. */
export class XmlError extends Error {
  override readonly name = 'XmlError';
}

export const longText = 'a text in it is longer than any cell can be';

/** Characters without a tag. A cell has at most 32,767. */
const maxTextLength = 4 * 1024 * 1024;
const maxDepth = 100;

/** Parses XML as it arrives. Nothing is resolved: document types and what they could define are refused. */
export function createXmlParser({ open, close, text }: XmlHandlers): XmlParser {
  const parser = new SaxesParser<{ position: false; xmlns: false }>({ position: false, xmlns: false });
  let decoder: TextDecoder | undefined;
  let depth = 0;
  let sinceTag = 0;
  parser.on('error', ({ message }) => {
    throw new XmlError(`it is not well-formed XML (${message})`);
  });
  parser.on('doctype', () => {
    throw new XmlError('it contains a document type, which no spreadsheet program writes');
  });
  parser.on('opentag', ({ name, attributes }) => {
    sinceTag = 0;
    if (++depth > maxDepth) throw new XmlError(`its elements are nested more than ${maxDepth} deep`);
    open?.(withoutPrefix(name), attributes);
  });
  parser.on('closetag', ({ name }) => {
    sinceTag = 0;
    depth--;
    close?.(withoutPrefix(name));
  });
  if (text) {
    parser.on('text', text);
    parser.on('cdata', text);
  }
  const write = (piece: string): void => {
    sinceTag += piece.length;
    if (sinceTag > maxTextLength) throw new XmlError(longText);
    parser.write(piece);
  };
  return {
    write: (bytes) => {
      decoder ??= new TextDecoder(isUtf16(bytes), { fatal: true });
      write(decode(decoder, bytes));
    },
    end: () => {
      write(decode(decoder ?? new TextDecoder()));
      parser.close();
    },
  };
}

export function withoutPrefix(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

function decode(decoder: TextDecoder, bytes?: Buffer): string {
  try {
    return bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true });
  } catch (error) {
    throw new XmlError('it is not text in UTF-8 or UTF-16', { cause: error });
  }
}

function isUtf16(bytes: Buffer): 'utf-8' | 'utf-16le' | 'utf-16be' {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  return bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : 'utf-8';
}

/** Bytes of a part that is read at once. */
const maxPartSize = 64 * 1024 * 1024;

/** Parses a whole part. @throws XmlError */
export async function parseXml(bytes: AsyncIterable<Buffer>, handlers: XmlHandlers): Promise<void> {
  const parser = createXmlParser(handlers);
  let size = 0;
  for await (const piece of bytes) {
    size += piece.length;
    if (size > maxPartSize) throw new XmlError('it is larger than 64 MiB');
    parser.write(piece);
  }
  parser.end();
}
