import { exit, Failure } from '../exit.ts'
import { type Column, type Mapping, readHeader } from './columns.ts'
import { csvTranslator } from './csv.ts'
import { csvRecords } from './csv-reader.ts'
import { lost, type SourceRecord, type Translated } from './records.ts'
import type { Read } from './run.ts'

type Translate = (record: SourceRecord<never>) => Translated

const translating = (records: readonly SourceRecord[], translate: Translate) =>
  records.map((record) => ({
    record,
    translated: record.fault === undefined ? translate(record as SourceRecord<never>) : lost(record.fault)
  }))

/** Reads a table whose first line names its columns. `begin` returns the translator of the other lines. */
export const tableOf = (begin: (header: string[]) => Translate, separator?: string): Read =>
  async function* (source) {
    let translate: Translate | undefined
    for await (const records of csvRecords(source.chunks, separator)) {
      if (!translate) translate = begin(records.shift()!.value)
      yield translating(records, translate)
    }
    if (!translate) throw new Failure(exit.failure, 'invalid_file', `${source.name} is empty.`)
  }

/** `onColumns` receives what each column becomes. */
export const csvFormat = (mapping: Mapping & { delimiter?: string }, onColumns: (columns: Column[]) => void): Read =>
  tableOf((header) => {
    const columns = readHeader(header, mapping)
    onColumns(columns)
    return csvTranslator(columns) as Translate
  }, mapping.delimiter)
