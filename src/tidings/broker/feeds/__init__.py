"""Feeds in and out: those that a broker reads, and its own subscriptions as feeds that others read.

options, rows     the feeds that are read, as they are kept
turns             who has his turn when, and how many at a time
taking            a document of a feed to events that are published
poller            asks for feeds when they are due
websub            hubs of others, which tell of feeds
keys, atom        a subscription as an Atom feed, for whoever has its key
hub, audience     ourselves as a hub, and who is to be told
"""
