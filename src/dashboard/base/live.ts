import type { FastifyInstance, FastifyReply } from 'fastify';
import { findEndedSessions } from '../../engine/access/sessions.ts';
import type { EngineContext } from '../../engine/context.ts';
import { loggableReason } from '../../platform/database-failures.ts';
import type { Logger } from '../../platform/logger.ts';
import { time } from '../../report/html/cells.ts';
import { type Html, html } from '../../report/html/html.ts';
import { noDatabase, ProblemError } from '../../server/api/problem.ts';
import type { PageContent } from './layout.ts';
import { type createPages, open, type Where } from './pages.ts';
import type { Asked, View, Viewer } from './view.ts';

/** What a stream shows. All viewers with the same key share one reader, so the key names all that `read` depends on. */
type Topic<Data> = { readonly key: string; readonly read: () => Promise<Data> };

type LivePage<Data> = Where & {
  /** The path of the stream, if it is not `/live` below the page. */
  readonly stream?: string;
  /** @throws ProblemError when the person may not see it */
  readonly open: (view: View, asked: Asked) => Promise<Topic<Data>>;
  readonly render: (data: Data, viewer: Viewer) => Html;
  /** Whether nothing changes any more: the page has no stream then, and one that has it is loaded again. */
  readonly hasEnded?: (data: Data) => boolean;
  /** What stands around the live part, from its first reading. */
  readonly around: (data: Data, view: View, asked: Asked) => PageContent | Promise<PageContent>;
};

/** Milliseconds between two reads of a topic, so that a change is seen within a second, and between two checks of the sessions that look. */
const readInterval = 750;
const sessionCheckInterval = 5_000;
/** A proxy ends a stream that is silent for a minute. */
const aliveInterval = 15_000;
/** An event, not a comment, so that the script of the page receives it. */
const aliveEvent = 'event: alive\ndata: alive\n\n';

/** Each stream holds one of the server's 200 connections, which the API and other pages need too. */
const maxStreams = { all: 120, token: 60, session: 20 } as const;

type Subscriber = {
  readonly reply: FastifyReply;
  readonly viewer: Viewer;
  readonly session: string;
  readonly token: string;
  sent: string | undefined;
  sentAt: number;
};

type Reader = { readonly subscribers: Set<Subscriber>; readonly stop: () => void };

/**
 * Reads each topic once for all who look at it, and sends them what has changed: server-sent events, each the whole live
 * part.
 */
export function createLivePages(
  server: FastifyInstance,
  { addPage }: Pick<ReturnType<typeof createPages>, 'addPage'>,
  { context, logger }: { readonly context: EngineContext; readonly logger: Logger },
) {
  const readers = new Map<string, Reader>();
  const subscribers = (): Subscriber[] => [...readers.values()].flatMap((reader) => [...reader.subscribers]);
  const checking = setInterval(() => {
    endSessions(context, subscribers()).catch((error: unknown) =>
      logger.debug({ reason: loggableReason(error) }, 'sessions of open pages were not checked'),
    );
  }, sessionCheckInterval);
  server.addHook('preClose', async () => {
    clearInterval(checking);
    for (const { reply } of subscribers()) reply.raw.end();
  });
  const follow = <Data>({ key, read }: Topic<Data>, page: LivePage<Data>, one: Subscriber): void => {
    // The browser left while the topic was opened: nothing would remove its subscriber.
    if (one.reply.raw.destroyed) return;
    const reader = readers.get(key) ?? startReader(context, read, page);
    readers.set(key, reader);
    reader.subscribers.add(one);
    one.reply.raw.once('close', () => {
      reader.subscribers.delete(one);
      if (reader.subscribers.size > 0) return;
      reader.stop();
      if (readers.get(key) === reader) readers.delete(key);
    });
  };
  const addLivePage = <Data>(page: LivePage<Data>): void => {
    const { stream, open: openTopic, render, around, hasEnded } = page;
    addPage(page, async (view, asked) => {
      const data = await (await openTopic(view, asked)).read();
      const [path = ''] = view.address.split('?');
      const from = `${stream ?? `${path}/live`}${view.address.slice(path.length)}`;
      const content = await around(data, view, asked);
      return hasEnded?.(data) ? content : { ...content, live: { body: render(data, view), from } };
    });
    server.get(stream ?? `${page.path}/live`, { exposeHeadRoute: false }, async (request, reply) => {
      const { view, asked } = open(request, page);
      const topic = await openTopic(view, asked);
      const { zone, mayRun, mayApprove, mayAdmin } = view;
      const viewer = { zone, mayRun, mayApprove, mayAdmin };
      const person = { session: view.sessionId, token: view.session.name };
      const isFull = isAtLimit(subscribers(), person);
      const last = isFull ? html`${tooMany}${render(await topic.read(), viewer)}` : undefined;
      openStream(reply);
      if (last) endStream(reply, last);
      else follow(topic, page, { ...person, reply, viewer, sent: undefined, sentAt: 0 });
      return reply;
    });
  };
  return { addLivePage };
}

/** A token signs in many sessions, which together must not take the streams of all. */
function isAtLimit(open: readonly Subscriber[], own: Pick<Subscriber, 'session' | 'token'>): boolean {
  const countOf = (name: 'session' | 'token') => open.filter((one) => one[name] === own[name]).length;
  const isFull = countOf('token') >= maxStreams.token || countOf('session') >= maxStreams.session;
  return isFull || open.length >= maxStreams.all;
}

const tooMany = html`<p class="banner" role="alert">Too many pages are open at once, so this one does not change by itself. Close some, and load it again.</p>`;

async function endSessions(context: EngineContext, open: readonly Subscriber[]): Promise<void> {
  if (open.length === 0) return;
  const ended = await findEndedSessions(context, [...new Set(open.map(({ session }) => session))]);
  for (const { reply, session } of open) if (ended.has(session)) endStream(reply, sessionEnded);
}

const sessionEnded = html`<p class="banner" role="alert">Your session has ended. <a href="/sign-in">Sign in</a> to go on.</p>`;

const loadAgain = html`<p role="status" data-load-again>It is ready. <a href="">Show it</a></p>`;

function startReader<Data>(
  { now }: EngineContext,
  read: Topic<Data>['read'],
  { render, hasEnded }: LivePage<Data>,
): Reader {
  const subscribers = new Set<Subscriber>();
  let last: { readonly data: Data; readonly at: Date } | undefined;
  let stopped = false;
  let timer: NodeJS.Timeout;
  const look = async (): Promise<void> => {
    let banner: (viewer: Viewer) => Html | undefined = () => undefined;
    try {
      last = { data: await read(), at: now() };
      if (hasEnded?.(last.data)) {
        for (const { reply } of subscribers) endStream(reply, loadAgain);
        return;
      }
    } catch (error) {
      if (error instanceof ProblemError && error.status === 404) {
        for (const { reply } of subscribers) endStream(reply, html`<p class="banner">${error.message}</p>`);
        return;
      }
      const since = last?.at;
      if (since) banner = (viewer) => outageBanner(since, viewer);
    }
    if (last) {
      const { data } = last;
      sendParts(subscribers, (viewer) => html`${banner(viewer)}${render(data, viewer)}`.text, now());
    } else {
      // The page has figures, and this stream none: the page keeps its own, says so, and asks again.
      for (const { reply } of subscribers) reply.raw.destroy();
    }
    if (!stopped) timer = setTimeout(start, readInterval);
  };
  const start = (): void => void look();
  timer = setTimeout(start);
  const stop = (): void => {
    stopped = true;
    clearTimeout(timer);
  };
  return { subscribers, stop };
}

type Part = { readonly text: string; readonly event: Buffer };

/** Formats a part once for all viewers that see the same. */
function sendParts(subscribers: ReadonlySet<Subscriber>, format: (viewer: Viewer) => string, at: Date): void {
  const parts = new Map<string, Part>();
  for (const one of subscribers) {
    const key = JSON.stringify(one.viewer);
    let part = parts.get(key);
    if (!part) {
      const text = format(one.viewer);
      part = { text, event: Buffer.from(formatEvent(text)) };
      parts.set(key, part);
    }
    sendIfChanged(one, part, at.getTime());
  }
}

function outageBanner(since: Date, { zone }: Viewer): Html {
  return html`<p class="banner" role="alert">${noDatabase} The figures below are of ${time(since, zone)}. This page goes on by itself.</p>`;
}

/** A viewer that reads slowly misses parts, never the last one. */
function sendIfChanged(one: Subscriber, part: Part, time: number): void {
  const { raw } = one.reply;
  if (raw.destroyed || raw.writableNeedDrain) return;
  if (one.sent !== part.text) {
    raw.write(part.event);
    one.sent = part.text;
    one.sentAt = time;
  } else if (time - one.sentAt >= aliveInterval) {
    raw.write(aliveEvent);
    one.sentAt = time;
  }
}

function formatEvent(part: string): string {
  return `data: ${part.replaceAll('\r', '').replaceAll('\n', '\ndata: ')}\n\n`;
}

/** Answers without the head of Fastify, which would wait for the end. */
function openStream(reply: FastifyReply): void {
  reply.hijack();
  const headers = reply.getHeaders();
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) reply.raw.setHeader(name, value);
  reply.raw.writeHead(200, { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
  reply.raw.flushHeaders();
}

/** The event `ended` keeps the browser from asking again. */
function endStream({ raw }: FastifyReply, last: Html): void {
  raw.end(`${formatEvent(last.text)}event: ended\ndata: ended\n\n`);
}

/** Answers a caller whose session has ended. */
export function answerEndedStream(reply: FastifyReply): void {
  openStream(reply);
  endStream(reply, sessionEnded);
}
