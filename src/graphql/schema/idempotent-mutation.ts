import { requireScope } from '../../core/access.ts'
import type { Context } from '../../core/context.ts'
import type { AnswerSerializer } from '../../core/idempotency.ts'
import { rowSerializer, withIdempotencyKey } from '../../core/idempotency.ts'
import type { Scope } from '../../generated/prisma/enums.ts'

/** The options of an `idempotencyKey` input field, with the common description. */
export const IDEMPOTENCY_KEY = { required: false } as const

interface Creation<M, T, Effect> {
  /** The scope required before an answer is repeated; null: none. */
  readonly needs: Scope | null
  readonly memory: (ctx: M) => AnswerSerializer<T, Effect>
}

/** Creates the resolver of a mutation that runs once per idempotency key. */
export function idempotentResolver<
  C extends Context,
  M,
  T,
  Effect,
  Input extends { readonly idempotencyKey?: string | null | undefined },
>(operation: string, { needs, memory }: Creation<M, T, Effect>, work: (ctx: C, input: Input) => Promise<T>) {
  return (_root: unknown, { input }: { readonly input: Input }, ctx: C & M): Promise<T> => {
    if (needs !== null) requireScope(ctx, needs)
    const request = { operation, input, key: input.idempotencyKey }
    return withIdempotencyKey(ctx, request, memory(ctx), (claiming) => work(claiming, input))
  }
}

/**
 * Like `idempotentResolver`, for a mutation that creates a row of the organization; repeated requests read the row
 * again. Requires a key with scope WRITE.
 */
export function createRowResolver<C extends Context, T extends { readonly id: string }>(
  operation: string,
  work: (ctx: C, input: unknown) => Promise<T>,
) {
  return idempotentResolver<C, Pick<Context, 'db'>, T, T, { readonly idempotencyKey?: string | null | undefined }>(
    operation,
    { needs: 'WRITE', memory: rowSerializer },
    work,
  )
}
