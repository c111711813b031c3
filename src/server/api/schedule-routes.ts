import { z } from 'zod';
import { describeSchedules } from '../../engine/schedule/describe-campaigns.ts';
import { listCampaigns } from '../../engine/schedule/schedule-folder.ts';
import { toRecord } from '../../report/formats/json.ts';
import { scheduleColumns, tickColumns } from '../../report/lists/schedules.ts';
import { callOf } from './call.ts';
import { answer, noParameters, operation, type Routes } from './route.ts';
import { campaignList, scheduleList } from './schemas.ts';

const reading = { scope: 'read', allAccounts: true } as const;

export function addScheduleRoutes(server: Routes): void {
  // The answers name campaigns of all accounts.
  server.route({
    method: 'GET',
    url: '/campaigns',
    ...operation(reading, {
      operationId: 'listCampaigns',
      summary: 'Lists the files of the folder of campaigns, for `startRun`.',
      querystring: noParameters,
      response: { 200: answer('The files.', campaignList) },
    }),
    handler: async (request) => {
      const { folder, settings } = callOf(request).campaignSource;
      return { campaigns: await listCampaigns(folder, settings) };
    },
  });

  server.route({
    method: 'GET',
    url: '/schedules',
    ...operation(reading, {
      operationId: 'listSchedules',
      summary: 'Campaigns that run by themselves, and what came of their latest ticks.',
      querystring: z.strictObject({ limit: z.coerce.number().int().min(0).max(1_000).default(20) }),
      response: { 200: answer('The schedules.', scheduleList) },
    }),
    handler: async (request) => {
      const { schedules, ticks } = await describeSchedules(callOf(request).context, request.query.limit);
      return {
        schedules: schedules.map((schedule) => toRecord(scheduleColumns, schedule)),
        ticks: ticks.map((tick) => toRecord(tickColumns, tick)),
      };
    },
  });
}
