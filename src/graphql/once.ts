import { requireScope } from '../account/access.ts'
import type { Scope } from '../generated/prisma/enums.ts'
import type { Memory } from '../idempotency.ts'
import { once, rowMemory } from '../idempotency.ts'
import type { GraphContext } from './builder.ts'

/** The argument of an input that makes a request repeatable; its description is the same everywhere. */
export const IDEMPOTENCY_KEY = { required: false } as const

interface Creation<T, Effect> {
  /** What the caller's key has to allow, for an answer is not given again to who may not ask; null: anybody may ask. */
  readonly needs: Scope | null
  readonly memory: (ctx: GraphContext) => Memory<T, Effect>
}

/** The resolver of a mutation that makes something, once for each idempotency key. */
export function creating<T, Effect, Input extends { readonly idempotencyKey?: string | null | undefined }>(
  operation: string,
  { needs, memory }: Creation<T, Effect>,
  work: (ctx: GraphContext, input: Input) => Promise<T>,
) {
  return (_root: unknown, { input }: { readonly input: Input }, ctx: GraphContext): Promise<T> => {
    if (needs !== null) requireScope(ctx, needs)
    const asked = { operation, input, key: input.idempotencyKey }
    return once(ctx, asked, memory(ctx), (claiming) => work(claiming, input))
  }
}

/** As `creating`, of a row of the organization, which is read anew. Needs a key with scope WRITE. */
export function creatingRow<T extends { readonly id: string }>(
  operation: string,
  work: (ctx: GraphContext, input: unknown) => Promise<T>,
) {
  return creating<T, T, { readonly idempotencyKey?: string | null | undefined }>(
    operation,
    { needs: 'WRITE', memory: rowMemory },
    work,
  )
}
