import { setImmediate as nextTurn } from 'node:timers/promises'
import type { DocumentNode, ExecutionArgs, ExecutionResult, FieldNode, GraphQLSchema } from 'graphql'
import {
  createSourceEventStream,
  execute,
  getOperationAST,
  getVariableValues,
  Kind,
  OperationTypeNode,
  print,
  valueFromASTUntyped,
  visit,
} from 'graphql'
import type { Logger } from 'pino'
import type { Follower } from '../eventlog/tail.ts'
import { startOf } from '../eventlog/tail.ts'
import type { GraphContext } from './builder.ts'
import { maskError } from './errors.ts'

/**
 * Goes into the `extensions` of a subscription field that follows an event log and shows every visitor the same: it is
 * executed once for all of them. Its source must be a `Follower`, and its cursor the argument `after`.
 */
export const BROADCAST = { broadcast: true }

/** Who is sent the results of an operation that is shared. */
export interface Receiver {
  /** Takes a result, as JSON, at once. */
  send(text: string): void
  /** Takes a result, and resolves when it has gone out: for those that only this receiver is sent. */
  deliver(text: string): Promise<void>
  /** Nothing more comes; the client may go on from its cursor. */
  end(): void
}

/** Executes what many visitors subscribe to alike once for all of them. */
export interface SharedExecution {
  /** Whether an operation is one that can be shared. Who asks must be a visitor. */
  canShare(args: ExecutionArgs): boolean
  /**
   * Sends the results of an operation to a receiver until it leaves by the function that this gives; or gives the errors
   * with which the operation does not begin.
   */
  join(args: ExecutionArgs, receiver: Receiver): Promise<(() => void) | ExecutionResult>
}

/** For how long, in milliseconds, results are sent without letting anything else be done. */
const SLICE = 8
/** After how many results the clock is looked at. */
const LOOK = 50

/** An operation, without where it begins: the same for all who share it. */
interface Operation {
  readonly key: string
  readonly args: ExecutionArgs
}

interface Member {
  readonly receiver: Receiver
  /** What has been sent up to here, or need not be. */
  position: number
  left: boolean
  /** Its own reading of what the others have been sent already. */
  own: Follower | null
}

/** All who share an operation, and its one source. */
interface Room {
  readonly operation: Operation
  /** Resolves when the source is open, or with the errors because of which it is not. */
  readonly opened: Promise<ExecutionResult | null>
  source: Follower | null
  /** Those that have come as far as the source. */
  readonly members: Set<Member>
  /** How many have joined and not left. */
  size: number
  /** Up to here everything has gone out, while a result is on its way; null while none is. */
  settled: number | null
  /** Results by their events, which the log gives to all alike as long as they are recent. */
  readonly results: WeakMap<object, Promise<string>>
}

/** @param options.visitorContext makes a context that no other execution has seen: resolvers keep what they loaded in it. */
export function createSharedExecution(options: {
  readonly visitorContext: () => Promise<GraphContext>
  readonly log: Logger
}): SharedExecution {
  const { visitorContext, log } = options
  const rooms = new Map<string, Room>()

  async function openSource(args: ExecutionArgs): Promise<Follower | ExecutionResult> {
    const source = await createSourceEventStream({ ...args, contextValue: await visitorContext() })
    if (isFollower(source)) return source
    if (Symbol.asyncIterator in source) throw new Error('A field that is broadcast has to follow an event log.')
    return masked(source)
  }

  async function render({ operation, results }: Room, event: object): Promise<string> {
    const found = results.get(event)
    if (found !== undefined) return found
    const rendering = visitorContext()
      .then((contextValue) => execute({ ...operation.args, contextValue, rootValue: event }))
      .then((result) => JSON.stringify(masked(result)))
    results.set(event, rendering)
    return rendering
  }

  function masked(result: ExecutionResult): ExecutionResult {
    return result.errors ? { ...result, errors: result.errors.map((error) => maskError(error, log)) } : result
  }

  function roomOf(operation: Operation): Room {
    const found = rooms.get(operation.key)
    if (found) return found
    const room: Room = {
      operation,
      opened: Promise.resolve().then(() => open(room)),
      source: null,
      members: new Set(),
      size: 0,
      settled: null,
      results: new WeakMap(),
    }
    rooms.set(operation.key, room)
    return room
  }

  async function open(room: Room): Promise<ExecutionResult | null> {
    const source = await openSource(room.operation.args)
    if (!isFollower(source)) return source
    room.source = source
    if (rooms.get(room.operation.key) === room) void run(room, source)
    else await source.return()
    return null
  }

  async function run(room: Room, source: Follower): Promise<void> {
    try {
      let position = source.position
      for await (const event of source) {
        room.settled = position
        await sendAll(room, event.seq, await render(room, event))
        position = event.seq
        room.settled = null
        // What was sent can go out before more is: a burst must not look like slow readers.
        await nextTurn()
      }
    } catch (error) {
      log.error({ err: error }, 'graphql: a shared operation failed')
    }
    close(room)
    for (const { receiver } of room.members) receiver.end()
  }

  function leave(room: Room, member: Member): void {
    if (member.left) return
    member.left = true
    room.members.delete(member)
    void member.own?.return()
    room.size -= 1
    if (room.size === 0) close(room)
  }

  function close(room: Room): void {
    if (rooms.get(room.operation.key) === room) rooms.delete(room.operation.key)
    void room.source?.return()
  }

  /** Sends a member what the others have been sent since `position`, until it has come as far as they. */
  async function catchUp(room: Room, member: Member, args: ExecutionArgs): Promise<void> {
    try {
      const own = await openSource(args)
      if (!isFollower(own)) throw new Error('What is open for others does not open again.')
      member.own = own
      while (!member.left && own.position < settledOf(room)) {
        const event = await own.take()
        if (event === null) break
        const text = await render(room, event)
        if (!member.left) await member.receiver.deliver(text)
      }
      enter(room, member, own.position)
      await own.return()
    } catch (error) {
      log.error({ err: error }, 'graphql: a subscriber could not catch up')
      member.receiver.end()
    }
  }

  return {
    canShare: (args) => planOf(args) !== null,
    async join(args, receiver) {
      const plan = planOf(args)
      if (!plan) throw new Error('This operation cannot be shared.')
      const variables = getVariableValues(args.schema, plan.variableDefinitions, { ...args.variableValues })
      if (variables.errors) return { errors: variables.errors }
      const room = roomOf(operationOf(args, plan, variables.coerced))
      const member: Member = { receiver, position: 0, left: false, own: null }
      room.size += 1
      const refusal = await room.opened.catch((error: unknown) => ({ errors: [maskError(error, log)] }))
      if (refusal || !room.source) {
        leave(room, member)
        return refusal ?? { errors: [] }
      }
      const { position } = room.source
      const after = afterOf(plan, variables.coerced)
      if (after === null) enter(room, member, position)
      else if (after >= settledOf(room) && after <= position) enter(room, member, after)
      else void catchUp(room, member, args)
      return () => leave(room, member)
    },
  }
}

/** Puts a member among those that are sent what comes; everything up to `position` has been sent to it. */
function enter(room: Room, member: Member, position: number): void {
  if (member.left) return
  member.position = position
  room.members.add(member)
}

/** Up to where whoever joins would miss nothing of what comes. */
function settledOf(room: Room): number {
  return room.settled ?? room.source?.position ?? 0
}

/** Sends a result to all members, also to those who join meanwhile, in slices: thousands of writes take their time. */
async function sendAll(room: Room, position: number, text: string): Promise<void> {
  let begun = performance.now()
  let count = 0
  for (const member of room.members) {
    if (member.position >= position) continue
    member.position = position
    member.receiver.send(text)
    count += 1
    if (count % LOOK !== 0 || performance.now() - begun < SLICE) continue
    await nextTurn()
    begun = performance.now()
  }
}

/** How an operation can be shared. */
interface Plan {
  /** Its document without the argument `after`, and that as text. */
  readonly document: DocumentNode
  readonly text: string
  readonly after: FieldNode['arguments']
  readonly variableDefinitions: NonNullable<ReturnType<typeof getOperationAST>>['variableDefinitions'] & object
  /** The variables that matter for the results. */
  readonly variableNames: readonly string[]
}

/** Documents are parsed once for all who send the same text. */
const plans = new WeakMap<DocumentNode, Map<string, Plan | null>>()

function planOf(args: ExecutionArgs): Plan | null {
  const { document, operationName, schema } = args
  const known = plans.get(document) ?? new Map<string, Plan | null>()
  plans.set(document, known)
  const name = operationName ?? ''
  const found = known.get(name)
  if (found !== undefined) return found
  const plan = makePlan(document, operationName, schema)
  known.set(name, plan)
  return plan
}

function makePlan(
  document: DocumentNode,
  operationName: string | null | undefined,
  schema: GraphQLSchema,
): Plan | null {
  const operation = getOperationAST(document, operationName)
  if (operation?.operation !== OperationTypeNode.SUBSCRIPTION) return null
  const [field, ...more] = operation.selectionSet.selections
  if (field?.kind !== Kind.FIELD || more.length > 0) return null
  if (schema.getSubscriptionType()?.getFields()[field.name.value]?.extensions['broadcast'] !== true) return null
  const isAfter = ({ name }: { readonly name: { readonly value: string } }) => name.value === 'after'
  const shared: DocumentNode = visit(document, {
    Field: (node) =>
      node === field
        ? { ...node, arguments: node.arguments?.filter((argument) => !isAfter(argument)) ?? [] }
        : undefined,
  })
  const variableNames = new Set<string>()
  visit(shared, {
    VariableDefinition: () => false,
    Variable: ({ name }) => void variableNames.add(name.value),
  })
  return {
    document: shared,
    text: print(shared),
    after: field.arguments?.filter(isAfter) ?? [],
    variableDefinitions: operation.variableDefinitions ?? [],
    variableNames: [...variableNames].sort(),
  }
}

function operationOf(args: ExecutionArgs, plan: Plan, variables: Record<string, unknown>): Operation {
  const mattering = plan.variableNames.map((name) => [name, variables[name]])
  return {
    key: JSON.stringify([plan.text, args.operationName ?? null, mattering]),
    args: { ...args, document: plan.document, contextValue: undefined, rootValue: undefined },
  }
}

/** Where an operation begins. */
function afterOf({ after }: Plan, variables: Record<string, unknown>): number | null {
  const value = after?.[0]?.value
  const cursor = value && valueFromASTUntyped(value, variables)
  return startOf(cursor == null ? null : String(cursor))
}

/** Whether the source of a subscription follows an event log. */
export function isFollower(source: object): source is Follower {
  return Symbol.asyncIterator in source && 'take' in source && 'position' in source
}
