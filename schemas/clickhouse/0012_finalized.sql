-- The last final block, so that a restarted server knows what is final before the next block comes.
ALTER TABLE progress_rows ADD COLUMN IF NOT EXISTS finalized UInt64 DEFAULT 0;
