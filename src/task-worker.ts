import { parentPort } from 'node:worker_threads'

/** Answers the tasks of a `TaskThread`, in the thread itself, once what it needs is loaded. What is thrown ends the thread. */
export function answerTasks<In, Out>(answer: (input: In) => Out): void {
  parentPort?.on('message', (input: In) => parentPort?.postMessage(answer(input)))
  parentPort?.postMessage(null)
}
