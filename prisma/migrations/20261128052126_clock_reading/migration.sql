-- CreateTable
CREATE TABLE "ClockReading" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "ClockReading_pkey" PRIMARY KEY ("id")
);
