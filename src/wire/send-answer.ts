import { asText, hasDuplicateKey, isObject, type JsonObject, member, parseJson } from './json.ts';
import { readTaughtJobNumber, type TtsReturnForm } from './tts-return.ts';
import type { SendAnswer } from './wire-interface.ts';
import { looksLikeXml, parseXmlTrimmed } from './xml.ts';

/**
 * Reads the answer to a send request (interface.md, 2.9, 4.2, 4.3 and 7), in JSON or XML whatever its content
 * type says. A proxy's page, an empty body and an unknown `Result` are `unreadable`.
 */

const maxTexts = 20;
const maxTextLength = 500;

/** Reasons are in `ErrorMessage` or `Message`, as text, list or elements. */
export function decodeSendAnswer(body: Uint8Array): SendAnswer {
  return parseResult(parse(body), body);
}

/** Reads an answer of 2.02, or `Job <number>` as plain or JSON text (interface.md, 4.2). */
export function decodeRest1SendAnswer(body: Uint8Array): SendAnswer {
  const content = parse(body);
  const text = looksLikeXml(body) ? undefined : (asText(content) ?? new TextDecoder().decode(body));
  return (text === undefined ? undefined : parseJobNumber(text)) ?? parseResult(content, body);
}

/**
 * Reads `ttsReturn`, or a fault of SOAP 1.1 or 1.2. The format of `ttsReturn` is not shown (4.3): accepted
 * are the forms of earlier REST versions, `Success`, and what is missing or invalid. An answer without SOAP
 * is read as REST.
 *
 * @param taught the account's own form of an acceptance; it decides only what is unreadable otherwise
 */
export function decodeSoapAnswer(body: Uint8Array, taught?: TtsReturnForm): SendAnswer {
  const envelope = parse(body);
  const soapBody = isObject(envelope) ? member(envelope, 'Body') : undefined;
  if (!isObject(soapBody)) return parseResult(envelope, body);
  const fault = member(soapBody, 'Fault');
  if (isObject(fault)) return parseFault(fault);
  const [response] = Object.values(soapBody);
  const text = isObject(response) ? asText(member(response, 'ttsReturn')) : undefined;
  if (text === undefined) return { kind: 'unreadable', why: 'the answer has no ttsReturn' };
  const read = parseTtsReturn(text);
  const jobNumber = read.kind === 'unreadable' && taught ? readTaughtJobNumber(text, taught) : undefined;
  return jobNumber === undefined ? read : { kind: 'unnamed_success', jobNumber };
}

function parse(body: Uint8Array): unknown {
  return looksLikeXml(body) ? parseXmlTrimmed(body) : parseJson(body);
}

/** XML turns a repeated member into a list. */
const decisiveMembers = ['MessageID', 'Result'];

function isContradictory(answer: JsonObject, body: Uint8Array): boolean {
  if (looksLikeXml(body)) return decisiveMembers.some((name) => Array.isArray(member(answer, name)));
  return hasDuplicateKey(body, answer);
}

function parseResult(answer: unknown, body: Uint8Array): SendAnswer {
  if (body.byteLength === 0) return { kind: 'unreadable', why: 'the answer is empty' };
  if (!isObject(answer)) return { kind: 'unreadable', why: 'the answer is neither a JSON object nor XML' };
  if (isContradictory(answer, body)) {
    return { kind: 'contradictory', why: 'the answer repeats a member' };
  }

  const id = asText(member(answer, 'MessageID'))?.trim();
  const messageId = id === undefined || id === '' ? {} : { messageId: id };
  const result = member(answer, 'Result');
  switch (typeof result === 'string' ? result.trim().toLowerCase() : undefined) {
    case 'success':
      return { kind: 'success', ...messageId };
    case 'failed':
      return { kind: 'failure', words: wordsIn(answer), ...messageId };
    case 'unauthorized':
      return { kind: 'unauthorized', words: wordsIn(answer), ...messageId };
    default:
      return { kind: 'unreadable', why: 'the answer has no known Result', ...messageId };
  }
}

/** The service's reasons, bounded in number and length. */
export function wordsIn(answer: JsonObject): readonly string[] {
  const [current, earlier] = ['ErrorMessage', 'Message'].map((name) =>
    truncateTexts(textsIn(member(answer, name))),
  );
  return (current?.length ? current : earlier) ?? [];
}

/** A text, a list, or elements (`<ErrorMessage><string>…</string></ErrorMessage>`). */
function textsIn(value: unknown): readonly (string | undefined)[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.slice(0, maxTexts).flatMap((entry) => {
    if (!isObject(entry)) return [asText(entry)];
    return Object.values(entry).flatMap((inner) =>
      Array.isArray(inner) ? inner.map(asText) : [asText(inner)],
    );
  });
}

function truncateTexts(words: readonly (string | undefined)[]): readonly string[] {
  return words
    .filter((text): text is string => text !== undefined && text !== '')
    .slice(0, maxTexts)
    .map((text) => text.slice(0, maxTextLength));
}

/** May contain letters, but `Job failed` is no number. */
function parseJobNumber(text: string): SendAnswer | undefined {
  const jobNumber = /^\s*Job\s+#?((?=[A-Z]*\d)[0-9A-Z]{1,40})\s*$/i.exec(text)?.[1];
  return jobNumber === undefined ? undefined : { kind: 'unnamed_success', jobNumber };
}

function parseTtsReturn(text: string): SendAnswer {
  const bytes = Buffer.from(text);
  const read = parseJobNumber(text) ?? parseResult(parse(bytes), bytes);
  if (read.kind !== 'unreadable') return read;
  if (/^success[.!]?$/i.test(text)) return { kind: 'unnamed_success' };
  if (/^(unauthori[sz]ed|invalid (auth )?token)\b/i.test(text)) {
    return { kind: 'unauthorized', words: truncateTexts([text]) };
  }
  if (/^(missing|invalid)\b|^failed[.!]?$/i.test(text))
    return { kind: 'failure', words: truncateTexts([text]) };
  return { kind: 'unreadable', why: `ttsReturn says "${text.slice(0, maxTextLength)}"` };
}

/** SOAP 1.1: `faultcode` and `faultstring`; SOAP 1.2: `Code` and `Reason`. */
function parseFault(fault: JsonObject): SendAnswer {
  const code = asText(member(fault, 'faultcode')) ?? innerText(fault, 'Code', 'Value') ?? '';
  const reason = asText(member(fault, 'faultstring')) ?? innerText(fault, 'Reason', 'Text');
  const detail = asText(member(fault, 'detail'));
  const words = truncateTexts([reason ?? (code || 'SOAP fault'), detail]);
  if (/(^|:)(Client\.Authentication|FailedAuthentication)\b/.test(code))
    return { kind: 'fault', origin: 'credential', words };
  return { kind: 'fault', origin: /(^|:)(Client|Sender)(\.|$)/.test(code) ? 'sender' : 'service', words };
}

function innerText(object: JsonObject, outer: string, inner: string): string | undefined {
  const child = member(object, outer);
  return isObject(child) ? asText(member(child, inner)) : undefined;
}
