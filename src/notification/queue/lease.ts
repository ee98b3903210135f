import { SECOND } from '../../core/time.ts'

/** The timeout of a send, in milliseconds. */
export const SEND_DEADLINE = 48 * SECOND

/**
 * The lease of a message to send, in milliseconds: longer than it takes to send it and store the result. The messages
 * of a crashed worker wait this long before they are sent again.
 */
export const LEASE = 60 * SECOND
