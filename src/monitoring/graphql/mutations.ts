import {
  Conflict,
  Invalid,
  ManagedByFile,
  NotFound,
  RateLimited,
  TierLimitReached,
  Unavailable,
} from '../../core/errors.ts'
import { ProbeOutcome } from '../../generated/prisma/enums.ts'
import { withChoice } from '../../graphql/schema/choice.ts'
import { deletionPayload } from '../../graphql/schema/deletion-payload.ts'
import { describedInput } from '../../graphql/schema/described-type.ts'
import { createRowResolver } from '../../graphql/schema/idempotent-mutation.ts'
import { createMonitor, deleteMonitor, monitorEdit, rotateHeartbeatToken, updateMonitor } from '../monitor/monitor.ts'
import { newMonitor } from '../monitor/new-monitor.ts'
import { optionKeys } from '../monitor/options.ts'
import { pauseMonitor, resumeMonitor } from '../monitor/pause.ts'
import type { TestRun } from '../monitor/test-run.ts'
import { testMonitor } from '../monitor/test-run.ts'
import { builder, bulkCreation, bulkMutation, bulkMutationOfIds } from './builder.ts'
import { Monitor } from './monitor.ts'
import { optionsInput } from './options.ts'
import { ProbeDetailRef } from './probe-result.ts'

const MonitorProbeInput = builder.inputType('MonitorProbeInput', {
  description: 'What a monitor probes, and how: the options of its kind.',
  isOneOf: true,
  fields: (t) =>
    Object.fromEntries(
      Object.entries(optionKeys).map(([key, kind]) => [
        key,
        t.field({
          type: optionsInput(kind),
          required: false,
          description: `The options of a monitor of kind ${kind}.`,
        }),
      ]),
    ),
})

const kinds = Object.keys(optionKeys)
const create = withChoice('probe', kinds, createMonitor)
const update = withChoice('probe', kinds, updateMonitor)

const CreateMonitorInput = describedInput(newMonitor, {
  isCreation: true,
  more: (t) => ({
    probe: t.field({ type: MonitorProbeInput, description: 'What it probes, and how. This decides its kind.' }),
  }),
})

builder.mutationField('createMonitor', (t) =>
  t.field({
    type: Monitor,
    description: 'Creates a monitor and starts it. Requires a key with scope WRITE.',
    args: { input: t.arg({ type: CreateMonitorInput }) },
    errors: { types: [Invalid, NotFound, Conflict, RateLimited, TierLimitReached] },
    resolve: createRowResolver('createMonitor', create),
  }),
)

const UpdateMonitorInput = describedInput(monitorEdit, {
  more: (t) => ({
    probe: t.field({
      type: MonitorProbeInput,
      required: false,
      description: 'All options, replacing the current ones, of the same kind. Earlier results no longer count.',
    }),
  }),
})

builder.mutationField('updateMonitor', (t) =>
  t.field({
    type: Monitor,
    description: 'Changes a monitor. Requires a key with scope WRITE.',
    args: { input: t.arg({ type: UpdateMonitorInput }) },
    errors: { types: [Invalid, NotFound, RateLimited, Conflict, ManagedByFile] },
    resolve: (_root, { input }, ctx) => update(ctx, input),
  }),
)

builder.mutationField('pauseMonitor', (t) =>
  t.field({
    type: Monitor,
    description: 'Pauses a monitor; the paused time does not count towards uptime. Requires a key with scope WRITE.',
    args: { id: t.arg.id() },
    errors: { types: [NotFound] },
    resolve: (_root, { id }, ctx) => pauseMonitor(ctx, id),
  }),
)

builder.mutationField('resumeMonitor', (t) =>
  t.field({
    type: Monitor,
    description: 'Resumes a paused monitor. Requires a key with scope WRITE.',
    args: { id: t.arg.id() },
    errors: { types: [NotFound, TierLimitReached] },
    resolve: (_root, { id }, ctx) => resumeMonitor(ctx, id),
  }),
)

const TestMonitorPayload = builder.objectRef<TestRun>('TestMonitorPayload').implement({
  description: 'The probe result of a test run, which is not stored.',
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', description: 'When the probe began.' }),
    outcome: t.expose('outcome', { type: ProbeOutcome, description: 'The outcome of the probe.' }),
    message: t.exposeString('message'),
    latencyMs: t.int({
      nullable: true,
      description: 'The response time in milliseconds; null: it could not be measured.',
      resolve: ({ latencyMs }) => (latencyMs === null ? null : Math.round(latencyMs)),
    }),
    detail: t.expose('detail', {
      type: ProbeDetailRef,
      nullable: true,
      description: 'Measurements in addition to the outcome. Null: none.',
    }),
  }),
})

builder.mutationField('testMonitor', (t) =>
  t.field({
    type: TestMonitorPayload,
    description: 'Probes a monitor once and returns the result. Requires a key with scope WRITE.',
    args: { id: t.arg.id() },
    errors: { types: [NotFound, Invalid, Unavailable] },
    resolve: (_root, { id }, ctx) => testMonitor(ctx, id),
  }),
)

const DeleteMonitorPayload = deletionPayload('Monitor')

builder.mutationField('deleteMonitor', (t) =>
  t.field({
    type: DeleteMonitorPayload,
    description: 'Deletes a monitor with its history. Requires a key with scope WRITE.',
    args: { id: t.arg.id() },
    errors: { types: [NotFound, ManagedByFile] },
    resolve: (_root, { id }, ctx) => deleteMonitor(ctx, id),
  }),
)

builder.mutationField('rotateHeartbeatToken', (t) =>
  t.field({
    type: Monitor,
    description: 'Replaces the URL of a heartbeat; the old one stops working. Requires a key with scope WRITE.',
    args: { id: t.arg.id() },
    errors: { types: [NotFound, Invalid] },
    resolve: (_root, { id }, ctx) => rotateHeartbeatToken(ctx, id),
  }),
)

bulkCreation('createMonitors', CreateMonitorInput, {
  type: Monitor,
  description: 'Creates up to 100 monitors and starts them. Requires a key with scope WRITE.',
  errors: [Invalid, NotFound, RateLimited, TierLimitReached],
  work: create,
})

bulkMutation('updateMonitors', UpdateMonitorInput, {
  type: Monitor,
  description: 'Changes up to 100 monitors. Requires a key with scope WRITE.',
  errors: [Invalid, NotFound, RateLimited, ManagedByFile],
  work: update,
})

bulkMutationOfIds('pauseMonitors', {
  type: Monitor,
  description: 'Pauses up to 100 monitors. Requires a key with scope WRITE.',
  errors: [NotFound],
  work: pauseMonitor,
})

bulkMutationOfIds('resumeMonitors', {
  type: Monitor,
  description: 'Resumes up to 100 paused monitors. Requires a key with scope WRITE.',
  errors: [NotFound, TierLimitReached],
  work: resumeMonitor,
})

bulkMutationOfIds('deleteMonitors', {
  type: DeleteMonitorPayload,
  description: 'Deletes up to 100 monitors with their history. Requires a key with scope WRITE.',
  errors: [NotFound, ManagedByFile],
  work: deleteMonitor,
})
