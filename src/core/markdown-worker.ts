/** Renders messages in a worker thread: a hostile one takes seconds. */
import { renderMarkdown } from './markdown.ts'
import { answerTasks } from './task-worker.ts'

answerTasks(renderMarkdown)
