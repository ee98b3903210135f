import type { ObjectRef } from '@pothos/core'
import { brandWithType } from '@pothos/core'
import { hasScope } from '../../core/access.ts'
import type { Member, Shape } from '../../core/described.ts'
import { named } from '../../core/described.ts'
import type { Monitor as MonitorRow } from '../../generated/prisma/client.ts'
import { MonitorKind } from '../../generated/prisma/enums.ts'
import { costs, rows, text } from '../../graphql/document/cost.ts'
import { describedInput, nameOf, simpleTypeOf } from '../../graphql/schema/described-type.ts'
import { MAX_GROUP_MEMBERS } from '../group/limits.ts'
import { HEARTBEAT_PATH } from '../heartbeat/heartbeat.ts'
import { heartbeatToken } from '../monitor/monitor.ts'
import { optionsOf } from '../monitor/option-list.ts'
import { redactOptions } from '../monitor/options.ts'
import { kindRules } from '../monitor/probe-kinds.ts'
import { builder } from './builder.ts'
import { GroupMember, membersOf } from './group.ts'

const capitalized = (name: string) => name.charAt(0).toUpperCase() + name.slice(1)
const lowerFirst = (sentence: string) => sentence.charAt(0).toLowerCase() + sentence.slice(1)
const typeName = (kind: MonitorKind) => `${capitalized(kind.toLowerCase())}Options`

/** Returns the input type of a kind's options. */
export const optionsInput = (kind: MonitorKind) =>
  describedInput(named(kindRules[kind].options, { name: typeName(kind), about: kindRules[kind].words.about }))

/** The options of a monitor, or a part of them, without secrets. */
type Shown = Readonly<Record<string, unknown>>
/** The options of a monitor. */
type Whole = Shown & { readonly monitor: MonitorRow }

const objects = new Map<string, ObjectRef<PothosTypes, Shown>>()
type PothosTypes = typeof builder.$inferSchemaTypes

/** Returns the type of an object with the members that are not secret. Flags say whether other options are set. */
function objectOf(name: string, about: string, members: readonly Member[], isWhole: boolean) {
  const known = objects.get(name)
  if (known !== undefined) return known
  const made = builder.objectRef<Shown>(name).implement({
    description: about,
    fields: (t) => {
      const shown = members.filter(({ words }) => words.secret === undefined)
      const secret = isWhole ? members.filter(({ words }) => words.secret !== undefined) : []
      return {
        ...Object.fromEntries(shown.map((member) => [member.name, t.field(fieldOf(member))])),
        ...Object.fromEntries(secret.map((member) => [flagName(member), t.boolean(flagOf(member))])),
      }
    },
  })
  objects.set(name, made)
  return made
}

/** An option with a default is always stored. */
function fieldOf({ name, words, shape, isRequired, initial }: Member) {
  const isStored = isRequired || initial !== undefined
  return {
    type: typeOf(shape),
    nullable: !isStored,
    extensions: costOf(shape),
    description: words.description.replace(/ Default: (.*)$/, isStored ? '' : ' Null: $1'),
    resolve: (shown: Shown) => (shown[name] ?? (isStored ? '' : null)) as never,
  }
}

const flagName = ({ name }: Member) => `has${capitalized(name)}`

/** Returns the flag that says whether a secret is set. */
function flagOf(member: Member) {
  const description = `Whether it is set: ${lowerFirst(member.words.description)} It is a secret and never returned.`
  return { description, resolve: (shown: Shown) => shown[flagName(member)] === true }
}

function typeOf(shape: Shape): never {
  if (shape.kind === 'list') return [typeOf(shape.of)] as never
  if (shape.kind !== 'object') return simpleTypeOf(shape) as never
  const { name, about = '' } = nameOf(shape)
  return objectOf(name, about, shape.members, false) as never
}

/** Returns what a member costs: lists by their items, and long texts. */
function costOf(shape: Shape) {
  if (shape.kind === 'list' && shape.of.kind === 'object') return costs({ items: shape.maxLength ?? 1 })
  const most = lengthOf(shape)
  return most > 500 ? text(most) : undefined
}

function lengthOf(shape: Shape): number {
  if (shape.kind === 'list') return (shape.maxLength ?? 0) * lengthOf(shape.of)
  return 'maxLength' in shape ? (shape.maxLength ?? 0) : 0
}

const types = new Map(
  Object.values(MonitorKind).map((kind) => [
    kind,
    objectOf(typeName(kind), kindRules[kind].words.about, optionsOf(kind), true),
  ]),
)

const wholeType = (kind: MonitorKind) => types.get(kind) as ObjectRef<PothosTypes, Whole>

builder.objectField(wholeType('GROUP'), 'members', (t) =>
  t.field({
    type: [GroupMember],
    extensions: rows(MAX_GROUP_MEMBERS),
    description: 'Its members, in the same order.',
    resolve: ({ monitor }, _args, ctx) => membersOf(ctx, monitor),
  }),
)

builder.objectField(wholeType('HEARTBEAT'), 'url', (t) =>
  t.string({
    nullable: true,
    description:
      'The URL that the job calls when it succeeds; append /start, /fail or its exit code to report more. A secret: null unless your key has scope WRITE.',
    resolve: ({ monitor }, _args, { actor, seal, site }) => {
      const token = heartbeatToken(seal, monitor)
      const isShown = hasScope(actor, monitor.organizationId, 'WRITE')
      return isShown && token !== null ? `${site.baseUrl}${HEARTBEAT_PATH}/${token}` : null
    },
  }),
)

const MonitorOptions = builder.unionType('MonitorOptions', {
  description: 'The options of a monitor, by its kind.',
  types: [...types.values()],
})

builder.prismaObjectField('Monitor', 'options', (t) =>
  t.field({
    type: MonitorOptions,
    description: 'Its target and settings. Secrets are never returned.',
    resolve: (monitor) => {
      const { kind, options } = redactOptions(monitor)
      const shown: Whole = { ...options, monitor }
      brandWithType(shown, wholeType(kind))
      return shown
    },
  }),
)
