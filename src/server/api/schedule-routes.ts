import { z } from 'zod';
import { describeSchedules } from '../../engine/schedule/describe-schedules.ts';
import { listCampaigns } from '../../engine/schedule/schedule-folder.ts';
import { toRecord } from '../../report/formats/json.ts';
import { scheduleColumns, tickColumns } from '../../report/lists/schedules.ts';
import { callOf } from './call.ts';
import { answer, noParameters, type Routes, scopedToAllAccounts } from './route.ts';
import { campaignList, scheduleList } from './schemas.ts';

export function addScheduleRoutes(server: Routes): void {
  // The answers name campaigns of all accounts.
  const reading = scopedToAllAccounts('read');
  server.route({
    method: 'GET',
    url: '/campaigns',
    config: reading.config,
    schema: {
      operationId: 'listCampaigns',
      summary: 'Lists the files of the folder of campaigns, for `startRun`.',
      security: reading.security,
      querystring: noParameters,
      response: { 200: answer('The files.', campaignList), ...reading.problems },
    },
    handler: async (request) => {
      const { folder, settings } = callOf(request).scheduleSource;
      return { campaigns: await listCampaigns(folder, settings) };
    },
  });

  server.route({
    method: 'GET',
    url: '/schedules',
    config: reading.config,
    schema: {
      operationId: 'listSchedules',
      summary: 'Campaigns that run by themselves, and the results of their latest ticks.',
      security: reading.security,
      querystring: z.strictObject({ limit: z.coerce.number().int().min(0).max(1_000).default(20) }),
      response: { 200: answer('The schedules.', scheduleList), ...reading.problems },
    },
    handler: async (request) => {
      const { schedules, ticks } = await describeSchedules(callOf(request).context, request.query.limit);
      return {
        schedules: schedules.map((schedule) => toRecord(scheduleColumns, schedule)),
        ticks: ticks.map((tick) => toRecord(tickColumns, tick)),
      };
    },
  });
}
