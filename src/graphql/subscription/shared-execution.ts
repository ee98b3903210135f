import { setImmediate as nextLoopIteration } from 'node:timers/promises'
import type { DocumentNode, ExecutionArgs, ExecutionResult, FieldNode, GraphQLError, GraphQLSchema } from 'graphql'
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
import type { Clock } from '../../core/time.ts'
import type { Follower } from '../../event-log/tail.ts'
import { startPosition } from '../../event-log/tail.ts'
import type { GraphContext } from '../builder.ts'
import { withoutHttp } from '../document/request-error.ts'
import { maskError } from '../errors.ts'

/**
 * The `extensions` of a subscription field whose results are the same for every visitor: it is executed once for all of
 * them. Its source must be a `Follower`, and its cursor the argument `after`.
 */
export const BROADCAST = { broadcast: true }

/** Receives the results of a shared operation. */
export interface Receiver {
  /** Sends a result, as JSON, without waiting. */
  send(text: string): void
  /** Sends a result and resolves when it is written; for results that only this receiver gets. */
  deliver(text: string): Promise<void>
  /** Ends the subscription; the client can resume from its cursor, unless it may no longer read (`isCut`). */
  end(isCut: boolean): void
}

/** Executes a subscription once for all visitors with the same operation. */
export interface SharedExecution {
  /** Returns whether a visitor's operation can be shared. */
  canShare(args: ExecutionArgs): boolean
  /**
   * Sends the results of an operation to a receiver. Returns a function that ends this, or the errors with which the
   * operation failed to start.
   */
  join(args: ExecutionArgs, receiver: Receiver): Promise<(() => void) | ExecutionResult>
}

/** The results sent before other work runs, and their characters: readers of event streams encode and write them after that. */
const SLICE = { results: 50, characters: 500_000 } as const

/** An operation without its start cursor: the same for all members. */
interface Operation {
  readonly key: string
  readonly args: ExecutionArgs
}

interface Member {
  readonly receiver: Receiver
  /** Everything up to here has been sent, or need not be. */
  position: number
  hasLeft: boolean
  /** Reads the events that other members have already been sent. */
  catchUpSource: Follower | null
}

/** The members of a shared operation and their source. */
interface Broadcast {
  readonly operation: Operation
  /** Resolves when the source is open, or with the errors that prevent it. */
  readonly opened: Promise<ExecutionResult | null>
  source: Follower | null
  /** The members that have caught up with the source. */
  readonly members: Set<Member>
  /** The number of members, including those that are catching up. */
  size: number
  /** The position up to which everything has been sent, while a result is being sent; null otherwise. */
  settled: number | null
  /** Results by event; the log returns the same object to all readers of a recent event. */
  readonly results: WeakMap<object, Promise<string>>
}

interface Options {
  /** Creates a context for a single execution, because resolvers cache in it. */
  readonly visitorContext: () => Promise<GraphContext>
  readonly log: Logger
  readonly now: Clock
}

/** Runs operations as a visitor. */
interface VisitorEngine {
  /** Opens the source of a subscription; returns the result of an operation that is refused. */
  openSource(args: ExecutionArgs): Promise<Follower | ExecutionResult>
  /** Returns the result of an event as JSON; it is rendered once for all members. */
  render(broadcast: Broadcast, event: object): Promise<string>
  /** Masks an error, without `extensions.http`, because results are sent as they are. */
  maskedError(error: unknown): GraphQLError
}

function createVisitorEngine(options: Options): VisitorEngine {
  const { visitorContext } = options
  const maskedError = (error: unknown) => withoutHttp(maskError(error, options))
  const masked = (result: ExecutionResult): ExecutionResult =>
    result.errors ? { ...result, errors: result.errors.map(maskedError) } : result
  return {
    async openSource(args) {
      const source = await createSourceEventStream({ ...args, contextValue: await visitorContext() })
      if (isFollower(source)) return source
      if (Symbol.asyncIterator in source) throw new Error('The source of a broadcast field must follow an event log.')
      return masked(source)
    },
    async render({ operation, results }, event) {
      const found = results.get(event)
      if (found !== undefined) return found
      const rendering = visitorContext()
        .then((contextValue) => execute({ ...operation.args, contextValue, rootValue: event }))
        .then((result) => JSON.stringify(masked(result)))
      results.set(event, rendering)
      return rendering
    },
    maskedError,
  }
}

/** Creates the shared execution of visitors' subscriptions. */
export function createSharedExecution(options: Options): SharedExecution {
  const { log } = options
  const { openSource, render, maskedError } = createVisitorEngine(options)
  const broadcasts = new Map<string, Broadcast>()

  function broadcastOf(operation: Operation): Broadcast {
    const found = broadcasts.get(operation.key)
    if (found) return found
    const broadcast: Broadcast = {
      operation,
      opened: Promise.resolve().then(() => open(broadcast)),
      source: null,
      members: new Set(),
      size: 0,
      settled: null,
      results: new WeakMap(),
    }
    broadcasts.set(operation.key, broadcast)
    return broadcast
  }

  async function open(broadcast: Broadcast): Promise<ExecutionResult | null> {
    const source = await openSource(broadcast.operation.args)
    if (!isFollower(source)) return source
    broadcast.source = source
    if (broadcasts.get(broadcast.operation.key) === broadcast) void run(broadcast, source)
    else await source.return()
    return null
  }

  async function run(broadcast: Broadcast, source: Follower): Promise<void> {
    try {
      let position = source.position
      for await (const event of source) {
        broadcast.settled = position
        await sendAll(broadcast, event.seq, await render(broadcast, event))
        position = event.seq
        broadcast.settled = null
        // Lets sent data be written before more is sent, so that a burst does not make readers look slow.
        await nextLoopIteration()
      }
    } catch (error) {
      log.error({ err: error }, 'graphql: a shared subscription failed')
    }
    close(broadcast)
    for (const { receiver } of broadcast.members) receiver.end(isCut(source))
  }

  function leave(broadcast: Broadcast, member: Member): void {
    if (member.hasLeft) return
    member.hasLeft = true
    broadcast.members.delete(member)
    void member.catchUpSource?.return()
    broadcast.size -= 1
    if (broadcast.size === 0) close(broadcast)
  }

  function close(broadcast: Broadcast): void {
    if (broadcasts.get(broadcast.operation.key) === broadcast) broadcasts.delete(broadcast.operation.key)
    void broadcast.source?.return()
  }

  /** Adds a member that has caught up, unless the others have ended meanwhile. */
  function settle(broadcast: Broadcast, member: Member, source: Follower): void {
    const isOver = isCut(source) || broadcasts.get(broadcast.operation.key) !== broadcast
    if (!isOver) addMember(broadcast, member, source.position)
    else if (!member.hasLeft) member.receiver.end(isCut(source))
  }

  /** Sends a member the events that others have already been sent, until it has caught up. */
  async function catchUp(broadcast: Broadcast, member: Member, args: ExecutionArgs): Promise<void> {
    try {
      const catchUpSource = await openSource(args)
      if (!isFollower(catchUpSource)) throw new Error('The source of a shared subscription did not open again.')
      member.catchUpSource = catchUpSource
      while (!member.hasLeft && catchUpSource.position < settledOf(broadcast)) {
        const event = await catchUpSource.poll()
        if (event === null) break
        const text = await render(broadcast, event)
        if (!member.hasLeft) await member.receiver.deliver(text)
      }
      settle(broadcast, member, catchUpSource)
      await catchUpSource.return()
    } catch (error) {
      log.error({ err: error }, 'graphql: a subscriber could not catch up')
      member.receiver.end(false)
    }
  }

  return {
    canShare: (args) => planOf(args) !== null,
    async join(args, receiver) {
      const plan = planOf(args)
      if (!plan) throw new Error('This operation cannot be shared.')
      const variables = getVariableValues(args.schema, plan.variableDefinitions, { ...args.variableValues })
      if (variables.errors) return { errors: variables.errors.map(maskedError) }
      const broadcast = broadcastOf(operationOf(args, plan, variables.coerced))
      const member: Member = { receiver, position: 0, hasLeft: false, catchUpSource: null }
      broadcast.size += 1
      const refusal = await broadcast.opened.catch((error: unknown) => ({ errors: [maskedError(error)] }))
      if (refusal || !broadcast.source) {
        leave(broadcast, member)
        return refusal ?? { errors: [] }
      }
      const { position } = broadcast.source
      const after = afterOf(plan, variables.coerced)
      if (after === null) addMember(broadcast, member, position)
      else if (after >= settledOf(broadcast) && after <= position) addMember(broadcast, member, after)
      else void catchUp(broadcast, member, args)
      return () => leave(broadcast, member)
    },
  }
}

/** Adds a member that has been sent everything up to `position`. */
function addMember(broadcast: Broadcast, member: Member, position: number): void {
  if (member.hasLeft) return
  member.position = position
  broadcast.members.add(member)
}

/** Returns the position from which a new member misses nothing. */
function settledOf(broadcast: Broadcast): number {
  return broadcast.settled ?? broadcast.source?.position ?? 0
}

/** Sends a result to all members, including those that join meanwhile, in slices, because thousands of writes take long. */
async function sendAll(broadcast: Broadcast, position: number, text: string): Promise<void> {
  let count = 0
  for (const member of broadcast.members) {
    if (member.position >= position) continue
    member.position = position
    member.receiver.send(text)
    count += 1
    if (count < SLICE.results && count * text.length < SLICE.characters) continue
    await nextLoopIteration()
    count = 0
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
  const usedVariables = plan.variableNames.map((name) => [name, variables[name]])
  return {
    key: JSON.stringify([plan.text, args.operationName ?? null, usedVariables]),
    args: { ...args, document: plan.document, contextValue: undefined, rootValue: undefined },
  }
}

/** Where an operation begins. */
function afterOf({ after }: Plan, variables: Record<string, unknown>): number | null {
  const value = after?.[0]?.value
  const cursor = value && valueFromASTUntyped(value, variables)
  return startPosition(cursor == null ? null : String(cursor))
}

/** Whether the source of a subscription follows an event log. */
export function isFollower(source: object): source is Follower {
  return Symbol.asyncIterator in source && 'poll' in source && 'position' in source
}

/** Whether a source has ended because its caller may no longer read what it follows. */
export function isCut(source: object): boolean {
  return 'isCut' in source && source.isCut === true
}

/** Whether an operation was refused to visitors; it may be open to a caller who shows more. */
export function isRefusal({ errors }: ExecutionResult): boolean {
  return errors?.some(({ extensions }) => extensions['code'] === 'UNAUTHENTICATED') === true
}
