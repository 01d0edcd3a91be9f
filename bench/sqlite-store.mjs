// What event-store does, with SQLite: sqlite-store.mjs record|replay FILE. Frames on stdin to a row each, committed before its frame goes on, and back.
import { readSync, writeSync } from 'node:fs'
import Database from 'better-sqlite3'
import { frameOf, recordLine, recordOf } from '../packages/event-store/build/src/record.js'
import { FrameDecoder } from '../packages/frame/build/src/index.js'

const [, , what, file] = process.argv
const SLICE = 64 * 1024
const db = new Database(file)
db.pragma('journal_mode = WAL')
db.pragma('synchronous = NORMAL')
db.exec('CREATE TABLE IF NOT EXISTS events (seq INTEGER PRIMARY KEY, ts TEXT NOT NULL, type TEXT NOT NULL, event TEXT NOT NULL)')

if (what === 'record') record()
else replay()

function record() {
  const insert = db.prepare('INSERT INTO events (ts, type, event) VALUES (?, ?, ?)')
  const decoder = new FrameDecoder()
  const slice = Buffer.alloc(SLICE)
  let seq = 0
  for (let count = readSync(0, slice); count > 0; count = readSync(0, slice)) {
    decoder.push(Buffer.from(slice.subarray(0, count)), (frame) => {
      const time = new Date().toISOString()
      insert.run(time, frame.type, recordLine(frame, ++seq, time))
    })
    writeSync(1, slice, 0, count)
  }
}

function replay() {
  let pieces = []
  for (const { event } of db.prepare('SELECT event FROM events ORDER BY seq').iterate()) {
    pieces.push(frameOf(recordOf(JSON.parse(event))).bytes)
    if (pieces.length === 1000) pieces = flush(pieces)
  }
  flush(pieces)
}

function flush(pieces) {
  const bytes = Buffer.concat(pieces)
  for (let at = 0; at < bytes.length; ) at += writeSync(1, bytes, at)
  return []
}
