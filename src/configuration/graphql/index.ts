// The door of the feature: its types and operations.
import {
  isLocked,
  lockManagedObject,
  type ManagedObject,
  readManagedObject,
  unlockManagedObject,
} from '../../account/managed-object.ts'
import { hasScope } from '../../core/access.ts'
import { Conflict, Invalid, NotFound } from '../../core/errors.ts'
import { builder } from '../../graphql/builder.ts'
import { costs, text } from '../../graphql/cost.ts'
import { describedValues } from '../../graphql/descriptions.ts'
import { applyConfiguration, DEFAULT_DELETIONS, planConfiguration } from '../apply.ts'
import { exportConfiguration } from '../export.ts'
import { DEFAULT_FILE } from '../format.ts'
import type { changeActions, Drift, MemberChange, ObjectChange, Plan } from '../plan.ts'
import { sections } from '../sections.ts'

/** How many changes a plan lists. */
const MAX_LISTED = 500
const MAX_MEMBERS = 20
const PLACEHOLDER = '`$' + '{NAME}`'

const ChangeAction = builder.enumType('ConfigurationAction', {
  description: 'What happens to an object.',
  values: describedValues<(typeof changeActions)[number]>({
    CREATE: 'It is created.',
    UPDATE: 'It changes.',
    DELETE: 'It is deleted.',
    RELEASE: 'It stays as it is, and the file no longer manages it.',
  }),
})

const MemberChangeRef = builder.objectRef<MemberChange>('ConfigurationMemberChange').implement({
  description: 'A member that changes.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name in the file.' }),
    from: t.exposeString('from', {
      nullable: true,
      extensions: text(400),
      description: 'Its value as JSON, cut to 400 characters and without secrets; null: there was none.',
    }),
    to: t.exposeString('to', { nullable: true, extensions: text(400), description: 'Its new value, likewise.' }),
  }),
})

const ChangeRef = builder.objectRef<ObjectChange>('ConfigurationChange').implement({
  description: 'An object that changes.',
  fields: (t) => ({
    action: t.expose('action', { type: ChangeAction, description: 'What happens to it.' }),
    section: t.exposeString('section', { description: `Its section of the file: ${sections.join(', ')}.` }),
    key: t.exposeString('key', { description: 'Its key in the file.' }),
    name: t.exposeString('name', { description: 'Its name.' }),
    takenOver: t.exposeBoolean('takenOver', { description: 'Whether it exists, and no file managed it until now.' }),
    members: t.field({
      type: [MemberChangeRef],
      extensions: costs({ items: MAX_MEMBERS }),
      description: 'What changes. Empty for an object that is deleted or released.',
      resolve: ({ members }) => members.slice(0, MAX_MEMBERS),
    }),
  }),
})

const DriftRef = builder.objectRef<Drift>('ConfigurationDrift').implement({
  description: 'What has changed other than by the file since it was applied.',
  fields: (t) => ({
    section: t.exposeString('section', { description: 'Its section of the file.' }),
    key: t.exposeString('key', { description: 'Its key in the file.' }),
    members: t.exposeStringList('members', { description: 'The members. Empty: the object was deleted.' }),
    by: t.string({
      nullable: true,
      description: 'Who changed it last: the name of a person or key; null: not known.',
      resolve: ({ last }) => last?.by ?? null,
    }),
    at: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When that was; null: not known.',
      resolve: ({ last }) => last?.at ?? null,
    }),
  }),
})

const PlanRef = builder.objectRef<Plan>('ConfigurationPlan').implement({
  description: 'What applying a configuration file does.',
  fields: (t) => ({
    changes: t.field({
      type: [ChangeRef],
      extensions: costs({ items: MAX_LISTED }),
      description: `What changes, in the order of the file, removals last. At most ${MAX_LISTED} of them.`,
      resolve: ({ changes }) => changes.slice(0, MAX_LISTED),
    }),
    changeCount: t.int({
      description: 'The number of changes. 0: nothing to do.',
      resolve: ({ changes }) => changes.length,
    }),
    drift: t.field({
      type: [DriftRef],
      extensions: costs({ items: MAX_LISTED }),
      description: 'What has changed other than by the file since it was applied.',
      resolve: ({ drift }) => drift.slice(0, MAX_LISTED),
    }),
    takenOver: t.exposeInt('takenOver', {
      description: 'How many objects the file starts to manage without changing them.',
    }),
    planHash: t.exposeString('hash', { description: 'Identifies what is done. Give it to `applyConfiguration`.' }),
  }),
})

const VariableInput = builder.inputType('ConfigurationVariableInput', {
  description: `A value for ${PLACEHOLDER} in the texts of a file.`,
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
      'Whether `yaml` is the file compressed by gzip, in base64: requests have a limit of 128 kB. Default: it is not.',
  }),
  variables: t.field({
    type: [VariableInput],
    required: false,
    description: `Values for ${PLACEHOLDER} in its texts.`,
  }),
  file: t.string({
    required: false,
    description: `The name of the file, which manages its objects alone. Default: ${DEFAULT_FILE}.`,
  }),
  delete: t.boolean({
    required: false,
    description: 'Whether to delete objects that the file no longer names. Default: they stay, unmanaged.',
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
      'Says what applying a configuration file would do, and changes nothing. Finds everything that would be refused. Requires a key with scope ADMIN.',
    args: { input: t.arg({ type: PlanInput }) },
    errors: { types: [Invalid] },
    resolve: (_root, { input }, ctx) => planConfiguration(ctx, input),
  }),
)

const ApplyInput = builder.inputType('ApplyConfigurationInput', {
  description: 'The file to apply, with the values that it was planned with.',
  fields: (t) => ({
    ...fileInputs(t),
    planHash: t.string({
      description: 'The hash of its plan. It fails with a conflict when it would now do something else.',
    }),
    maxDeletions: t.int({
      required: false,
      description: `How many objects it may delete. Default: ${DEFAULT_DELETIONS}.`,
    }),
    lock: t.boolean({
      required: false,
      description:
        'Whether only the file may change what it gives, until somebody unlocks it or the file releases it. Default: yes.',
    }),
  }),
})

builder.mutationField('applyConfiguration', (t) =>
  t.field({
    type: PlanRef,
    description: 'Applies a configuration file as planned, all of it or nothing. Requires a key with scope ADMIN.',
    args: { input: t.arg({ type: ApplyInput }) },
    errors: { types: [Invalid, Conflict] },
    resolve: (_root, { input }, ctx) => applyConfiguration(ctx, input),
  }),
)

/** An export of the largest organization takes a while. */
const EXPORT_COST = 5000

builder.prismaObjectField('Organization', 'configuration', (t) =>
  t.string({
    extensions: costs({ itself: EXPORT_COST }),
    authScopes: ({ id }, _args, { actor }) => hasScope(actor, id, 'ADMIN'),
    description:
      'Its groups, services, monitors, pages, alert channels, templates and objectives as a configuration file without secrets. Requires a key with scope ADMIN.',
    resolve: ({ id }, _args, ctx) => exportConfiguration(ctx, id),
  }),
)

const ManagedObjectRef = builder.objectRef<ManagedObject>('ManagedObject').implement({
  description: 'What a configuration file manages of an object.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the object.' }),
    file: t.exposeString('file', { description: 'The name of the file.' }),
    section: t.exposeString('section', { description: `Its section of the file: ${sections.join(', ')}.` }),
    key: t.exposeString('key', { description: 'Its key in the file.' }),
    members: t.exposeStringList('members', { description: 'The members that the file gives.' }),
    isLocked: t.boolean({
      description: 'Whether only the file may change those members.',
      resolve: isLocked,
    }),
    unlockedAt: t.expose('unlockedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When somebody unlocked it; null: nobody has since the file was applied.',
    }),
  }),
})

builder.prismaObjectField('Organization', 'managedObject', (t) =>
  t.field({
    type: ManagedObjectRef,
    nullable: true,
    authScopes: ({ id }, _args, { actor }) => hasScope(actor, id, 'READ'),
    description:
      'What a configuration file manages of a group, service, monitor, page, alert channel, template or objective. Null: no file manages it. Requires a key with scope READ.',
    args: { id: t.arg.id({ description: 'The id of the object.' }) },
    resolve: (organization, { id }, ctx) => readManagedObject(ctx, organization.id, id),
  }),
)

builder.mutationField('unlockManagedObject', (t) =>
  t.field({
    type: ManagedObjectRef,
    description:
      'Lets people and keys change what a configuration file manages of an object, until the file is applied again. Requires a key with scope WRITE.',
    args: { id: t.arg.id({ description: 'The id of the object.' }) },
    errors: { types: [NotFound] },
    resolve: (_root, { id }, ctx) => unlockManagedObject(ctx, id),
  }),
)

builder.mutationField('lockManagedObject', (t) =>
  t.field({
    type: ManagedObjectRef,
    description: 'Locks an object again that was unlocked. Requires a key with scope WRITE.',
    args: { id: t.arg.id({ description: 'The id of the object.' }) },
    errors: { types: [NotFound] },
    resolve: (_root, { id }, ctx) => lockManagedObject(ctx, id),
  }),
)
