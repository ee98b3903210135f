import type { DocumentNode, ExecutionArgs, ExecutionResult, SelectionSetNode } from 'graphql'
import { getOperationAST, Kind, OperationTypeNode, print, SchemaMetaFieldDef, TypeMetaFieldDef } from 'graphql'
import { LRUCache } from 'lru-cache'
import type { Context } from '../../core/context.ts'
import { TaskTimeout } from '../../core/thread/task-runner.ts'
import { createTaskThread } from '../../core/thread/task-thread.ts'
import { SECOND } from '../../core/time.ts'
import { fragmentsOf, operationTooLarge } from './cost.ts'

/** An operation that selects only the schema. */
export interface IntrospectionRequest {
  readonly source: string
  readonly operationName: string | null | undefined
  readonly variables: Record<string, unknown>
}

/** The result; `failed`: normal execution reports the error. */
export type IntrospectionResult =
  | { readonly kind: 'answer'; readonly text: string }
  | { readonly kind: 'operationTooLarge' }
  | { readonly kind: 'failed' }

const thread = createTaskThread<IntrospectionRequest, IntrospectionResult>('graphql/document/introspection-worker', {
  // Typical requests take a tenth of it.
  timeoutMs: 5 * SECOND,
  maxWaiting: 100,
  maxWaitingPerOwner: 5,
  resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 },
})

/** Results by request, which only the schema determines; limited in characters, keys included. */
const cache = new LRUCache<string, string>({
  max: 100,
  maxSize: 8 * 1024 * 1024,
  sizeCalculation: (text, key) => text.length + key.length,
})
const pending = new Map<string, Promise<IntrospectionResult>>()

/**
 * Answers an operation that selects only the schema, from the cache or from a thread with limits of its own. Returns
 * null for other operations and for those that fail in execution.
 * @throws Unavailable when too many requests are waiting.
 */
export async function answerIntrospection(args: ExecutionArgs): Promise<ExecutionResult | null> {
  const { document, operationName, variableValues, contextValue } = args
  if (!isIntrospectionOnly(document, operationName)) return null
  const request = {
    source: document.loc?.source.body ?? print(document),
    operationName,
    variables: { ...variableValues },
  }
  const key = JSON.stringify(request)
  const known = cache.get(key)
  if (known !== undefined) return resultOf(known)
  // The context that Yoga or the websocket created.
  const { clientAddress } = contextValue as Context
  const answering = pending.get(key) ?? runInThread(key, clientAddress ?? '', request)
  const answer = await answering
  if (answer.kind === 'failed') return null
  return answer.kind === 'answer'
    ? resultOf(answer.text)
    : { errors: [operationTooLarge('selects too much of the schema')] }
}

/** Ends the thread, when the service stops. */
export const closeIntrospection = thread.close

async function runInThread(key: string, owner: string, request: IntrospectionRequest): Promise<IntrospectionResult> {
  const answering = thread.run(owner, request).catch((error: unknown): IntrospectionResult => {
    if (error instanceof TaskTimeout) return { kind: 'operationTooLarge' }
    throw error
  })
  pending.set(key, answering)
  try {
    const answer = await answering
    if (answer.kind === 'answer') cache.set(key, answer.text)
    return answer
  } finally {
    pending.delete(key)
  }
}

/** A result that is already text: Yoga calls `stringify`; the websocket reads `data`. */
function resultOf(text: string): ExecutionResult & { readonly stringify: () => string } {
  return {
    get data() {
      return JSON.parse(text).data
    },
    stringify: () => text,
  }
}

const META_FIELDS: readonly string[] = [SchemaMetaFieldDef.name, TypeMetaFieldDef.name]

function isIntrospectionOnly(document: DocumentNode, operationName: string | null | undefined): boolean {
  const operation = getOperationAST(document, operationName)
  if (operation?.operation !== OperationTypeNode.QUERY) return false
  const fragments = fragmentsOf(document)
  const seen = new Set<string>()
  const selectsSchemaOnly = ({ selections }: SelectionSetNode): boolean =>
    selections.every((selection) => {
      if (selection.kind === Kind.FIELD) return META_FIELDS.includes(selection.name.value)
      if (selection.kind === Kind.INLINE_FRAGMENT) return selectsSchemaOnly(selection.selectionSet)
      const name = selection.name.value
      if (seen.has(name)) return true
      seen.add(name)
      const fragment = fragments.get(name)
      return fragment !== undefined && selectsSchemaOnly(fragment.selectionSet)
    })
  return selectsSchemaOnly(operation.selectionSet)
}
