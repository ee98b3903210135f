import { Conflict, Invalid, NotFound, RateLimited, TierLimitReached, Unavailable } from '../../errors.ts'
import { ProbeOutcome } from '../../generated/prisma/enums.ts'
import { builder } from '../../graphql/builder.ts'
import { bulkCreation, bulkMutation, bulkMutationOfIds } from '../../graphql/bulk.ts'
import { deletionOf } from '../../graphql/deletion.ts'
import { creatingRow, IDEMPOTENCY_KEY } from '../../graphql/once.ts'
import { createMonitor, deleteMonitor, rotateHeartbeatToken, updateMonitor } from '../monitor.ts'
import { pauseMonitor, resumeMonitor } from '../pause.ts'
import type { Trial } from '../trial.ts'
import { testMonitor } from '../trial.ts'
import { CheckDetail } from './check.ts'
import { Monitor } from './monitor.ts'
import { kindInputs } from './option-inputs.ts'

/** What a monitor of each kind takes, of which a new one is given exactly one. */
const kindFields = (t: InputFields, description: string) => ({
  http: t.field({ type: kindInputs.http, required: false, description }),
  tcp: t.field({ type: kindInputs.tcp, required: false, description }),
  dns: t.field({ type: kindInputs.dns, required: false, description }),
  ping: t.field({ type: kindInputs.ping, required: false, description }),
  heartbeat: t.field({ type: kindInputs.heartbeat, required: false, description }),
  blacklist: t.field({ type: kindInputs.blacklist, required: false, description }),
})

type InputFields = Parameters<Parameters<typeof builder.inputType>[1]['fields']>[0]

const CreateMonitorInput = builder.inputType('CreateMonitorInput', {
  description: 'Exactly one of http, tcp, dns, ping, heartbeat and blacklist says what is watched.',
  fields: (t) => ({
    name: t.string({ description: 'The monitor’s name.' }),
    serviceId: t.id({ required: false, description: 'The service whose status it bears on.' }),
    intervalSeconds: t.int({
      required: false,
      description:
        'Absent: 60; of a blacklist 3600, of a heartbeat 86400. Not less than the tier allows, at most a day, of a heartbeat 31 days.',
    }),
    timeoutMs: t.int({ required: false, description: '500 to 30000, not longer than the interval. Absent: 10000.' }),
    failureThreshold: t.int({
      required: false,
      description: 'How many failures in a row make it down, 1 to 10. Absent: 2. Of a heartbeat always 1.',
    }),
    recoveryThreshold: t.int({
      required: false,
      description: 'How many successes in a row end that, 1 to 10. Absent: 1. Of a heartbeat always 1.',
    }),
    agreement: t.int({
      required: false,
      description: 'How many regions must find it down. Absent: a strict majority of those that report.',
    }),
    ...kindFields(t, 'One of the six.'),
    idempotencyKey: t.string(IDEMPOTENCY_KEY),
  }),
})

builder.mutationField('createMonitor', (t) =>
  t.field({
    type: Monitor,
    description: 'Adds a monitor, which is watched from now on. Needs a key with scope WRITE.',
    args: { input: t.arg({ type: CreateMonitorInput }) },
    errors: { types: [Invalid, NotFound, Conflict, RateLimited, TierLimitReached] },
    resolve: creatingRow('createMonitor', createMonitor),
  }),
)

const UpdateMonitorInput = builder.inputType('UpdateMonitorInput', {
  description: 'What is left out stays as it is; so does the kind.',
  fields: (t) => ({
    id: t.id({ description: 'The monitor to change.' }),
    name: t.string({ required: false, description: 'The monitor’s name.' }),
    serviceId: t.id({ required: false, description: 'Null takes it off its service.' }),
    intervalSeconds: t.int({ required: false, description: 'How often it is checked, in seconds.' }),
    timeoutMs: t.int({ required: false, description: 'How long a check may take, 500 to 30000 milliseconds.' }),
    failureThreshold: t.int({ required: false, description: 'How many failures in a row make it down, 1 to 10.' }),
    recoveryThreshold: t.int({ required: false, description: 'How many successes in a row end an outage, 1 to 10.' }),
    agreement: t.int({ required: false, description: 'Null: a strict majority of the regions that report.' }),
    ...kindFields(t, 'All of its options, in place of those it has. What was found by the others is forgotten.'),
    version: t.int({ required: false, description: 'The version that was read: a newer one makes a conflict.' }),
  }),
})

builder.mutationField('updateMonitor', (t) =>
  t.field({
    type: Monitor,
    description: 'Changes a monitor. Needs a key with scope WRITE.',
    args: { input: t.arg({ type: UpdateMonitorInput }) },
    errors: { types: [Invalid, NotFound, RateLimited, Conflict] },
    resolve: (_root, { input }, ctx) => updateMonitor(ctx, input),
  }),
)

builder.mutationField('pauseMonitor', (t) =>
  t.field({
    type: Monitor,
    description: 'Has a monitor watched no longer; that time counts for no uptime. Needs a key with scope WRITE.',
    args: { id: t.arg.id() },
    errors: { types: [NotFound] },
    resolve: (_root, { id }, ctx) => pauseMonitor(ctx, id),
  }),
)

builder.mutationField('resumeMonitor', (t) =>
  t.field({
    type: Monitor,
    description: 'Has a monitor that is paused watched again. Needs a key with scope WRITE.',
    args: { id: t.arg.id() },
    errors: { types: [NotFound, TierLimitReached] },
    resolve: (_root, { id }, ctx) => resumeMonitor(ctx, id),
  }),
)

const TestMonitorPayload = builder.objectRef<Trial>('TestMonitorPayload').implement({
  description: 'What a monitor finds that is run once. It is not recorded.',
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', description: 'When it began.' }),
    outcome: t.expose('outcome', { type: ProbeOutcome, description: 'What the check found.' }),
    message: t.exposeString('message'),
    latencyMs: t.int({
      nullable: true,
      description: 'How long the answer took, in milliseconds; null: it could not be timed.',
      resolve: ({ latencyMs }) => (latencyMs === null ? null : Math.round(latencyMs)),
    }),
    detail: t.expose('detail', {
      type: CheckDetail,
      nullable: true,
      description: 'Measurements and findings beyond the outcome; null: none.',
    }),
  }),
})

builder.mutationField('testMonitor', (t) =>
  t.field({
    type: TestMonitorPayload,
    description: 'Runs a monitor once, here and now. Needs a key with scope WRITE.',
    args: { id: t.arg.id() },
    errors: { types: [NotFound, Invalid, Unavailable] },
    resolve: (_root, { id }, ctx) => testMonitor(ctx, id),
  }),
)

const DeleteMonitorPayload = deletionOf('Monitor')

builder.mutationField('deleteMonitor', (t) =>
  t.field({
    type: DeleteMonitorPayload,
    description: 'Deletes a monitor with its history. Needs a key with scope WRITE.',
    args: { id: t.arg.id() },
    errors: { types: [NotFound] },
    resolve: (_root, { id }, ctx) => deleteMonitor(ctx, id),
  }),
)

builder.mutationField('rotateHeartbeatToken', (t) =>
  t.field({
    type: Monitor,
    description: 'Gives a heartbeat a new URL; the old one is known no more. Needs a key with scope WRITE.',
    args: { id: t.arg.id() },
    errors: { types: [NotFound, Invalid] },
    resolve: (_root, { id }, ctx) => rotateHeartbeatToken(ctx, id),
  }),
)

bulkCreation('createMonitors', CreateMonitorInput, {
  type: Monitor,
  description: 'Adds up to 100 monitors, which are watched from now on. Needs a key with scope WRITE.',
  errors: [Invalid, NotFound, RateLimited, TierLimitReached],
  work: createMonitor,
})

bulkMutation('updateMonitors', UpdateMonitorInput, {
  type: Monitor,
  description: 'Changes up to 100 monitors. Needs a key with scope WRITE.',
  errors: [Invalid, NotFound, RateLimited],
  work: updateMonitor,
})

bulkMutationOfIds('pauseMonitors', {
  type: Monitor,
  description: 'Pauses up to 100 monitors. Needs a key with scope WRITE.',
  errors: [NotFound],
  work: pauseMonitor,
})

bulkMutationOfIds('resumeMonitors', {
  type: Monitor,
  description: 'Has up to 100 monitors that are paused watched again. Needs a key with scope WRITE.',
  errors: [NotFound, TierLimitReached],
  work: resumeMonitor,
})

bulkMutationOfIds('deleteMonitors', {
  type: DeleteMonitorPayload,
  description: 'Deletes up to 100 monitors with their history. Needs a key with scope WRITE.',
  errors: [NotFound],
  work: deleteMonitor,
})
