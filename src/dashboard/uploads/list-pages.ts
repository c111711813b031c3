import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { matchList } from '../../engine/plan/brought-list.ts';
import { html } from '../../report/html/html.ts';
import { textIn } from '../base/fields.ts';
import { csrfField } from '../base/layout.ts';
import { addPage, sendPage } from '../base/pages.ts';
import { orInputError } from '../base/problems.ts';
import type { Tools } from '../base/tools.ts';
import { type Asked, askedOf, notFound, requireScope, type View, viewOf } from '../base/view.ts';
import { requireCampaign } from '../campaigns/campaign-page.ts';
import { campaignStart } from '../campaigns/start-action.ts';
import { campaignPath, pathWith } from '../paths.ts';
import { addStartPage } from '../plan/start-page.ts';
import type { PlannedStart } from '../plan/start-part.ts';
import { createKeptFiles, type KeptFiles } from './kept-files.ts';
import { matchForm, readColumns, readReading } from './match-form.ts';
import { fileField, receiveFile } from './receive-file.ts';

const path = '/campaigns/:file/list';

/** Pages that send a campaign to a list which a person brings, where the server allows it. */
export function addListPages(server: FastifyInstance, tools: Tools): void {
  // Also removes the lists that killed processes left.
  const lists = createKeptFiles('volley-lists', 1);
  server.addHook('onClose', () => lists.close());
  if (!tools.uploads) return;
  addBringPage(server, tools, lists);
  addMatchPage(server, tools, lists);
  addStartPage(server, tools, {
    path: `${path}/:list/start`,
    needsReason: false,
    open: (view, asked) => openStart(view, asked, tools, lists),
  });
}

function addBringPage(server: FastifyInstance, tools: Tools, lists: KeptFiles): void {
  addPage(server, { path, scope: 'run' }, async (view, { params }) => {
    const { file } = await requireCampaign(view, tools, params['file'] ?? '');
    return bringPage(view, file);
  });
  server.post(path, async (request, reply) => {
    const view = viewOf(request);
    requireScope(view, 'run');
    const { file } = await requireCampaign(view, tools, askedOf(request).params['file'] ?? '');
    const { file: list } = await receiveFile(request, view, lists);
    if (typeof list !== 'string') return reply.redirect(campaignPath(file, `list/${list.id}`), 303);
    return sendPage(reply, view, 422, bringPage(view, file, list));
  });
}

function addMatchPage(server: FastifyInstance, tools: Tools, lists: KeptFiles): void {
  const { campaignSource, limits } = tools;
  addPage(server, { path: `${path}/:list`, scope: 'run' }, async (view, asked) => {
    const { file, list, own } = await openList(view, asked, tools, lists);
    const { folder, settings } = campaignSource;
    const match = await orInputError(limits.page(() => matchList(join(folder, file), settings, list)));
    return {
      ...headOf(file),
      body: html`<p>${list.name}. <a href="${campaignPath(file, 'list')}">Choose another file</a></p>
<form method="get" action="${own}">
${matchForm(match, asked.query, `${own}/start`)}
</form>`,
    };
  });
}

async function openStart(view: View, asked: Asked, tools: Tools, lists: KeptFiles): Promise<PlannedStart> {
  const { file, id, list, own } = await openList(view, asked, tools, lists);
  const { row: _, ...asksOfList } = asked.query;
  const query = Object.fromEntries(Object.keys(asksOfList).map((name) => [name, textIn(asked.query, name)]));
  const planned = campaignStart(view, tools, { campaign: file, list });
  return {
    ...headOf(file),
    within: { href: pathWith(own, query), text: 'Match its columns' },
    path: `${own}/start`,
    query,
    about: html`<p>Its contacts are those of <bdi>${list.name}</bdi>, and not of the campaign’s own files.</p>`,
    ...planned,
    start: async (plan, fields) => {
      const started = await planned.start(plan, fields);
      if (started.kind === 'planned') await lists.drop(id);
      return started;
    },
  };
}

function headOf(file: string) {
  return { title: `Send ${file} to another list`, within: { href: campaignPath(file), text: file } };
}

/**
 * The list in the path, as its person wants it to be read.
 *
 * @throws ProblemError when it is not kept, or the campaign is of another account
 */
async function openList(view: View, { params, query }: Asked, tools: Tools, lists: KeptFiles) {
  const { file } = await requireCampaign(view, tools, params['file'] ?? '');
  const kept =
    lists.find(view.session.owner, params['list'] ?? '') ??
    notFound('This list is not kept any more: it was started, replaced, or an hour is over.');
  const list = { name: kept.name, path: kept.path, columns: readColumns(query), reading: readReading(query) };
  return { file, id: kept.id, list, own: campaignPath(file, `list/${kept.id}`) };
}

function bringPage(view: View, file: string, problem?: string) {
  return {
    ...headOf(file),
    body: html`<p>One run goes to the list that you bring, instead of to the contact files of the campaign. The campaign stays as it is.</p>
<form method="post" action="${campaignPath(file, 'list')}" enctype="multipart/form-data">
${csrfField(view)}
${fileField('list', 'The list', 'with a header line', problem)}
<p class="buttons"><button>Match its columns</button> <a href="${campaignPath(file)}">Go back</a></p>
</form>
<p class="hint">Only you can use the list, for an hour, until you start the run or bring another. The run keeps it in the ledger, as it keeps every contact file.</p>`,
  };
}
