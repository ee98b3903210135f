// The GraphQL types and operations of configuration files.
import {
  isLocked,
  lockManagedObject,
  type ManagedObject,
  readManagedObject,
  unlockManagedObject,
} from '../../account/managed-object.ts'
import { hasScope } from '../../core/access.ts'
import { Conflict, Invalid, NotFound } from '../../core/errors.ts'
import { costs, text } from '../../graphql/document/cost.ts'
import { describedValues } from '../../graphql/schema/descriptions.ts'
import { applyConfiguration, planConfiguration } from '../apply.ts'
import { exportConfiguration } from '../export.ts'
import { DEFAULT_FILE } from '../format.ts'
import {
  type ChangeCount,
  type changeActions,
  countChanges,
  type Drift,
  type FieldChange,
  type ObjectChange,
  type Plan,
} from '../plan.ts'
import { type Move, sections } from '../sections.ts'
import { builder } from './builder.ts'

/** How many changes a plan lists. */
const MAX_LISTED = 500
const MAX_FIELDS = 20
const PLACEHOLDER = '`$' + '{NAME}`'

const ChangeAction = builder.enumType('ConfigurationAction', {
  description: 'The action on an object.',
  values: describedValues<(typeof changeActions)[number]>({
    CREATE: 'Creates the object.',
    UPDATE: 'Updates the object.',
    DELETE: 'Deletes the object.',
    RELEASE: 'Keeps the object as it is, no longer managed by the file.',
  }),
})

const FieldChangeRef = builder.objectRef<FieldChange>('ConfigurationMemberChange').implement({
  description: 'A change of a member.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The path of the member in the object, such as `http.url`.' }),
    from: t.exposeString('from', {
      nullable: true,
      extensions: text(400),
      description: 'The old value as JSON, cut to 400 characters and without secrets. Null: there was none.',
    }),
    to: t.exposeString('to', {
      nullable: true,
      extensions: text(400),
      description: 'The new value, in the same form.',
    }),
  }),
})

const ChangeRef = builder.objectRef<ObjectChange>('ConfigurationChange').implement({
  description: 'A change of an object.',
  fields: (t) => ({
    action: t.expose('action', { type: ChangeAction, description: 'The action.' }),
    section: t.exposeString('section', { description: `The section of the file: ${sections.join(', ')}.` }),
    key: t.exposeString('key', { description: 'The key of the object in the file.' }),
    name: t.exposeString('name', { description: 'The name of the object.' }),
    takenOver: t.exposeBoolean('takenOver', {
      description: 'Whether the object already exists and no file has managed it so far.',
    }),
    members: t.field({
      type: [FieldChangeRef],
      extensions: costs({ items: MAX_FIELDS }),
      description: 'The changed members. Empty for a deleted or released object.',
      resolve: ({ members }) => members.slice(0, MAX_FIELDS),
    }),
  }),
})

const CountRef = builder.objectRef<ChangeCount>('ConfigurationCount').implement({
  description: 'The number of objects of a section with the same action.',
  fields: (t) => ({
    section: t.exposeString('section', { description: 'The section of the file.' }),
    action: t.expose('action', { type: ChangeAction, description: 'The action.' }),
    count: t.exposeInt('count', { description: 'The number of objects.' }),
  }),
})

const DriftRef = builder.objectRef<Drift>('ConfigurationDrift').implement({
  description: 'A change made outside the file since it was last applied.',
  fields: (t) => ({
    section: t.exposeString('section', { description: 'The section of the file.' }),
    key: t.exposeString('key', { description: 'The key of the object in the file.' }),
    members: t.exposeStringList('members', { description: 'The changed members. Empty: the object was deleted.' }),
    by: t.string({
      nullable: true,
      description: 'The name of the person or key that made the last change. Null: unknown.',
      resolve: ({ last }) => last?.by ?? null,
    }),
    at: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'The time of the last change. Null: unknown.',
      resolve: ({ last }) => last?.at ?? null,
    }),
  }),
})

const MoveRef = builder.objectRef<Move>('ConfigurationMove').implement({
  description: 'A renamed key.',
  fields: (t) => ({
    section: t.exposeString('section', { description: 'The section of the file.' }),
    from: t.exposeString('from', { description: 'The old key.' }),
    to: t.exposeString('to', { description: 'The new key.' }),
  }),
})

const PlanRef = builder.objectRef<Plan>('ConfigurationPlan').implement({
  description: 'The result of applying a configuration file.',
  fields: (t) => ({
    changes: t.field({
      type: [ChangeRef],
      extensions: costs({ items: MAX_LISTED }),
      description: `The changes in file order, removals last. At most ${MAX_LISTED}.`,
      resolve: ({ changes }) => changes.slice(0, MAX_LISTED),
    }),
    changeCount: t.int({
      description: 'The number of all changes. 0: nothing to do.',
      resolve: ({ changes }) => changes.length,
    }),
    counts: t.field({
      type: [CountRef],
      extensions: costs({ items: sections.length }),
      description: 'The number of all changes by section and action.',
      resolve: ({ changes }) => countChanges(changes),
    }),
    drift: t.field({
      type: [DriftRef],
      extensions: costs({ items: MAX_LISTED }),
      description: 'The changes made outside the file since it was last applied.',
      resolve: ({ drift }) => drift.slice(0, MAX_LISTED),
    }),
    moved: t.field({
      type: [MoveRef],
      extensions: costs({ items: MAX_LISTED }),
      description: `The keys renamed by \`moved\` of the file. At most ${MAX_LISTED}.`,
      resolve: ({ moved }) => moved.slice(0, MAX_LISTED),
    }),
    takenOver: t.exposeInt('takenOver', {
      description: 'The number of existing objects that the file starts to manage without changes.',
    }),
    deletionWarning: t.exposeString('deletionWarning', {
      nullable: true,
      extensions: text(400),
      description:
        'Why its deletions require `maxDeletions`: they exceed 10 objects or a fifth of the objects that the file manages, or include the last monitor of the organization or of a service. Null: they require no permission.',
    }),
    planHash: t.exposeString('hash', { description: 'Identifies the changes. Pass it to `applyConfiguration`.' }),
  }),
})

const VariableInput = builder.inputType('ConfigurationVariableInput', {
  description: `A value for ${PLACEHOLDER} in a file.`,
  fields: (t) => ({
    name: t.string({ description: 'The name.' }),
    value: t.string({ description: 'The value.' }),
  }),
})

type InputFields = Parameters<Parameters<typeof builder.inputType>[1]['fields']>[0]

const fileInputs = (t: InputFields) => ({
  yaml: t.string({ description: 'The file.' }),
  isCompressed: t.boolean({
    required: false,
    description:
      'Whether `yaml` is compressed by gzip and encoded in base64, which the limit of 128 kB per request may require. Default: false.',
  }),
  variables: t.field({
    type: [VariableInput],
    required: false,
    description: `Values for ${PLACEHOLDER} in the file.`,
  }),
  file: t.string({
    required: false,
    description: `The name of the file. Each object is managed by one file only. Default: ${DEFAULT_FILE}.`,
  }),
  delete: t.boolean({
    required: false,
    description: 'Whether to delete objects that the file no longer names. Default: false, they stay unmanaged.',
  }),
  keepAbsent: t.boolean({
    required: false,
    description:
      'Whether the file keeps managing objects that it no longer names. Imports set this. Default: false, it releases them.',
  }),
  allowLiteralSecrets: t.boolean({
    required: false,
    description: `Whether the file may contain literal passwords, tokens and other credentials. Imports set this. Default: false, it must contain ${PLACEHOLDER} instead.`,
  }),
})

const PlanInput = builder.inputType('PlanConfigurationInput', {
  description: 'The file to plan.',
  fields: (t) => fileInputs(t),
})

builder.mutationField('planConfiguration', (t) =>
  t.field({
    type: PlanRef,
    description:
      'Returns the changes that applying a configuration file would make, or every refusal. Changes nothing. Requires a key with scope ADMIN.',
    args: { input: t.arg({ type: PlanInput }) },
    errors: { types: [Invalid] },
    resolve: (_root, { input }, ctx) => planConfiguration(ctx, input),
  }),
)

const ApplyInput = builder.inputType('ApplyConfigurationInput', {
  description: 'The file to apply, with the same values as in its plan.',
  fields: (t) => ({
    ...fileInputs(t),
    planHash: t.string({
      description:
        'The hash of its plan. The mutation fails with a conflict if the changes would differ from the plan.',
    }),
    maxDeletions: t.int({
      required: false,
      description: 'The maximum number of objects to delete. If omitted, the plan must have no `deletionWarning`.',
    }),
    lock: t.boolean({
      required: false,
      description:
        'Whether to lock the members that the file sets, so that only the file can change them until they are unlocked or released. Default: true.',
    }),
    pausedMonitors: t.stringList({
      required: false,
      description: 'The keys of monitors to pause when they are created, at most 500. Imports set this.',
    }),
  }),
})

builder.mutationField('applyConfiguration', (t) =>
  t.field({
    type: PlanRef,
    description: 'Applies a configuration file as planned, completely or not at all. Requires a key with scope ADMIN.',
    args: { input: t.arg({ type: ApplyInput }) },
    errors: { types: [Invalid, Conflict] },
    resolve: (_root, { input }, ctx) => applyConfiguration(ctx, input),
  }),
)

/** The cost of an export, which is high, because exporting the largest organization takes a while. */
const EXPORT_COST = 5000

builder.prismaObjectField('Organization', 'configuration', (t) =>
  t.string({
    extensions: costs({ itself: EXPORT_COST }),
    authScopes: ({ id }, _args, { actor }) => hasScope(actor, id, 'ADMIN'),
    description:
      'A configuration file of the groups, services, monitors, pages, alert channels, templates and objectives, without secrets. Requires a key with scope ADMIN.',
    resolve: ({ id }, _args, ctx) => exportConfiguration(ctx, id),
  }),
)

const ManagedObjectRef = builder.objectRef<ManagedObject>('ManagedObject').implement({
  description: 'An object that a configuration file manages.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the object.' }),
    file: t.exposeString('file', { description: 'The name of the file.' }),
    section: t.exposeString('section', { description: `Its section of the file: ${sections.join(', ')}.` }),
    key: t.exposeString('key', { description: 'Its key in the file.' }),
    members: t.exposeStringList('members', { description: 'The members that the file sets.' }),
    isLocked: t.boolean({
      description: 'Whether only the file may change those members.',
      resolve: isLocked,
    }),
    unlockedAt: t.expose('unlockedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'The time of the last unlock since the file was applied. Null: not unlocked.',
    }),
  }),
})

builder.prismaObjectField('Organization', 'managedObject', (t) =>
  t.field({
    type: ManagedObjectRef,
    nullable: true,
    authScopes: ({ id }, _args, { actor }) => hasScope(actor, id, 'READ'),
    description:
      'The configuration file that manages a group, service, monitor, page, alert channel, template or objective. Null: no file manages it. Requires a key with scope READ.',
    args: { id: t.arg.id({ description: 'The id of the object.' }) },
    resolve: (organization, { id }, ctx) => readManagedObject(ctx, organization.id, id),
  }),
)

builder.mutationField('unlockManagedObject', (t) =>
  t.field({
    type: ManagedObjectRef,
    description:
      'Unlocks the members that a configuration file sets on an object, until the file is applied again. Requires a key with scope WRITE.',
    args: { id: t.arg.id({ description: 'The id of the object.' }) },
    errors: { types: [NotFound] },
    resolve: (_root, { id }, ctx) => unlockManagedObject(ctx, id),
  }),
)

builder.mutationField('lockManagedObject', (t) =>
  t.field({
    type: ManagedObjectRef,
    description: 'Locks an unlocked object again. Requires a key with scope WRITE.',
    args: { id: t.arg.id({ description: 'The id of the object.' }) },
    errors: { types: [NotFound] },
    resolve: (_root, { id }, ctx) => lockManagedObject(ctx, id),
  }),
)
