import type { ExecutionArgs, ExecutionResult } from 'graphql'
import { coerceVariables } from '../document/variables.ts'
import type { Broadcast, Receiver } from './broadcast.ts'
import { createBroadcast } from './broadcast.ts'
import type { Operation } from './sharing-plan.ts'
import { afterOf, operationOf, planOf } from './sharing-plan.ts'
import type { VisitorOptions } from './visitor-engine.ts'
import { createVisitorEngine } from './visitor-engine.ts'

/**
 * The `extensions` of a subscription field whose results are the same for every visitor: it is executed once for all of
 * them. Its source must be a `Follower`, and its cursor the argument `after`.
 */
export const BROADCAST = { broadcast: true }

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

/** Creates the shared execution of visitors' subscriptions. */
export function createSharedExecution(options: VisitorOptions): SharedExecution {
  const { log } = options
  const engine = createVisitorEngine(options)
  const broadcasts = new Map<string, Broadcast>()

  function broadcastOf(operation: Operation): Broadcast {
    const { key } = operation
    const found = broadcasts.get(key)
    if (found) return found
    const broadcast = createBroadcast({ operation, engine, log, onClose: () => broadcasts.delete(key) })
    broadcasts.set(key, broadcast)
    return broadcast
  }

  return {
    canShare: (args) => planOf(args) !== null,
    async join(args, receiver) {
      const plan = planOf(args)
      if (!plan) throw new Error('This operation cannot be shared.')
      const { values, error } = coerceVariables(args)
      if (error) return { errors: [engine.maskedError(error)] }
      const broadcast = broadcastOf(operationOf(args, plan, values))
      return broadcast.join(receiver, args, afterOf(plan, values))
    },
  }
}

/** Whether an operation was refused to visitors; a caller with credentials may be allowed to run it. */
export function isRefusal({ errors }: ExecutionResult): boolean {
  return errors?.some(({ extensions }) => extensions['code'] === 'UNAUTHENTICATED') === true
}
